from django.apps import AppConfig


class AdmissionConfig(AppConfig):
    name = "gate.admission"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make policies known as definitions that change by two hands."""
        from audit import twohands
        from gate.admission import policies

        twohands.register(policies.KIND)
