from django.apps import AppConfig


class WritesConfig(AppConfig):
    name = "gate.writes"
    default_auto_field = "django.db.models.BigAutoField"
