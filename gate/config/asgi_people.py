"""The people's plane: Django's pages over ASGI."""

import os
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")

django_app: Any = get_asgi_application()

from gate.config import refused  # noqa: E402 - settings can be read only once Django is set up
from gate.config.bodies import Uploads, limited  # noqa: E402
from gate.config.requests import identified  # noqa: E402
from gate.people import alert_letters  # noqa: E402
from gate.triage import trace_uploads  # noqa: E402

LONGEST = f"a trace up to {trace_uploads.LONGEST // 1024**2} MB"
uploads = Uploads(trace_uploads.OF_PEOPLE, trace_uploads.LONGEST, lambda: refused.too_long(LONGEST))
application = identified(limited(django_app, refused.too_long, uploads))
alert_letters.start()
