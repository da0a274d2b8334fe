from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "evidence"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make the kinds of definitions known, the tools that tell of tools and metrics, and the parts of pages."""
        from audit import agent_page, copies
        from evidence import (
            agent_activity,
            discovery,
            metric_copies,
            openapi,  # noqa: F401 - its scheme registers itself
        )
        from evidence.metrics import telling

        _register_definitions()
        discovery.register()
        telling.register()
        copies.register(metric_copies.of, metric_copies.clear, metric_copies.forget)
        agent_page.register_part("evidence/_agent_activity.html", agent_activity.Activity)
        agent_page.set_marks(agent_activity.open_alerts)


def _register_definitions() -> None:
    """Have sources, tools, metrics and prices change by two hands."""
    from audit.twohands import DefinitionKind, register
    from evidence import contracts, metric_asks, proof, sources
    from evidence.metrics import example, registry, valuation

    permission = "gate.change_definition"
    kinds = (
        DefinitionKind(
            "source", "sources", "Sources", permission, sources.check, sources.activated, proof.standings,
            sources.EXAMPLE,
        ),
        DefinitionKind(
            "tool", "tools", "Tools", permission, contracts.check, example=contracts.EXAMPLE, can_retire=True
        ),
        DefinitionKind(
            registry.METRIC, "metrics", "Metrics", permission, registry.check_metric, example=example.EXAMPLE,
            can_retire=True, check_earned=metric_asks.check_earned,
        ),
        DefinitionKind(
            registry.VALUATION, "valuations", "Valuation tables", permission, registry.check_valuation,
            example=valuation.EXAMPLE,
        ),
    )  # fmt: skip
    for kind in kinds:
        register(kind)
