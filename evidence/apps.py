from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "evidence"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make sources and tools known as definitions that change by two hands."""
        from audit import twohands
        from evidence import contracts, openapi, proof, sources  # noqa: F401 - openapi's scheme registers itself

        permission = "gate.change_definition"
        twohands.register(
            twohands.DefinitionKind(
                "source", "sources", "Sources", permission, sources.check, sources.prove_soon, proof.standings,
                sources.EXAMPLE,
            )
        )  # fmt: skip
        twohands.register(
            twohands.DefinitionKind("tool", "tools", "Tools", permission, contracts.check, example=contracts.EXAMPLE)
        )
