from django.apps import AppConfig


class WritesConfig(AppConfig):
    name = "gate.writes"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make targets known as definitions, and offer the desk tools to agents."""
        from audit import twohands
        from evidence import desk as agents_desk
        from gate.writes import desk, targets

        twohands.register(targets.KIND)
        for tool in desk.TOOLS:
            agents_desk.register(tool)
