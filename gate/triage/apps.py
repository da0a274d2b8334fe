from django.apps import AppConfig


class TriageConfig(AppConfig):
    name = "gate.triage"
    default_auto_field = "django.db.models.BigAutoField"
