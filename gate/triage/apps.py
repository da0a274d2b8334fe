from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class TriageConfig(AppConfig):
    name = "gate.triage"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make triage known to the layers below: its kinds of definitions, its desk tools, its scope."""
        from audit import agent_page, agents, health_resting, twohands
        from audit import copies as audit_copies
        from evidence import offering, scope, sources
        from gate.triage import classes, copies, desk, ending, rule_guards, running, seals, written
        from gate.triage.rules import registry
        from gate.triage.scope import resolving
        from gate.triage.scope import running as running_scopes

        permission = "gate.change_definition"
        twohands.register(
            twohands.DefinitionKind(
                "class", "classes", "Incident classes", permission, classes.check, example=classes.EXAMPLE
            )
        )
        twohands.register(
            twohands.DefinitionKind(
                "rule",
                "rules",
                "Rules",
                permission,
                registry.check,
                hint=registry.BODY_HINT,
                has_shadow=True,
                check_earned=rule_guards.check_earned,
            )
        )
        try:
            registry.use(settings.VERDICT_RULES)
        except registry.Refused as refused:
            raise ImproperlyConfigured(refused.sentence) from refused
        # Hashed now, so that a file changed under a running process does not pass for what it has loaded.
        for rule in registry.loaded():
            registry.hash_of(rule)
        desk.register()
        scope.set_resolver(resolving, running_scopes)
        offering.set_finder(classes.offering)
        sources.set_companion(written.bring_class)
        agent_page.set_running(running.of_agent)
        audit_copies.register(copies.of, copies.clear)
        health_resting.register(seals.resting)
        agents.set_ending(ending.end_all)
