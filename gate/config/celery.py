"""The Celery app. Tasks take an outbox id and are safe to run twice; each worker serves one queue with one role."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")

app = Celery("counterseal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
