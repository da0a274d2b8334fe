from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "gate.config"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Give an operator's command on the machine of `up` the demo shop's credentials that its process may hold."""
        from gate.config import services

        services.lend_demo_credentials()
