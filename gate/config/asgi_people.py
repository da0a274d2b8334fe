"""The people's plane: Django's pages over ASGI."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")

application = get_asgi_application()
