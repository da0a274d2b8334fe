from django.apps import AppConfig


class AdmissionConfig(AppConfig):
    name = "gate.admission"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make policies known as definitions that change by two hands, and what admission repeats of the log."""
        from audit import copies as audit_copies
        from audit import twohands
        from gate.admission import copies, policies

        twohands.register(policies.KIND)
        audit_copies.register(copies.of, copies.clear)
