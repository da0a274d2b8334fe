from django.apps import AppConfig


class WritesConfig(AppConfig):
    name = "gate.writes"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make targets known as definitions, and offer the desk tools to agents."""
        from audit import copies as audit_copies
        from audit import twohands
        from evidence import desk as agents_desk
        from gate.writes import copies, desk, targets

        twohands.register(targets.KIND)
        audit_copies.register(copies.of)
        for tool in desk.TOOLS:
            agents_desk.register(tool)
