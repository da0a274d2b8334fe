from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "evidence"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make sources and tools known as definitions that change by two hands, and the tools that tell of tools."""
        from audit import agent_page, twohands
        from evidence import (
            agent_activity,
            contracts,
            discovery,
            metric_asks,
            openapi,  # noqa: F401 - its scheme registers itself
            proof,
            sources,
        )
        from evidence.metrics import example, registry, telling, valuation

        permission = "gate.change_definition"
        twohands.register(
            twohands.DefinitionKind(
                "source", "sources", "Sources", permission, sources.check, sources.activated, proof.standings,
                sources.EXAMPLE,
            )
        )  # fmt: skip
        twohands.register(
            twohands.DefinitionKind(
                "tool", "tools", "Tools", permission, contracts.check, example=contracts.EXAMPLE, can_retire=True
            )
        )
        twohands.register(
            twohands.DefinitionKind(
                registry.METRIC, "metrics", "Metrics", permission, registry.check_metric, example=example.EXAMPLE,
                can_retire=True, check_earned=metric_asks.check_earned,
            )
        )  # fmt: skip
        twohands.register(
            twohands.DefinitionKind(
                registry.VALUATION, "valuations", "Valuation tables", permission, registry.check_valuation,
                example=valuation.EXAMPLE,
            )
        )  # fmt: skip
        discovery.register()
        telling.register()
        agent_page.register_part("evidence/_agent_activity.html", agent_activity.Activity)
        agent_page.set_marks(agent_activity.open_alerts)
