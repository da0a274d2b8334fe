from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.publishing import Publisher
from audit.publishing_targets import BadTarget, Target, ToFile, ToWebhook, ToWitness, check_address
from gate.config import powers
from gate.config.stopping import told_to_stop


class Command(BaseCommand):
    help = "Send each checkpoint to a file, a webhook or a witness, until told to stop."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="send what there is now, and end")

    def handle(self, *args: Any, once: bool, **options: Any) -> None:
        try:
            powers.check("publisher")
            targets = _targets()
        except (powers.TooPowerful, BadTarget) as refusal:
            raise CommandError(str(refusal)) from refusal
        publisher = Publisher(targets, told_to_stop())
        if not once:
            publisher.run()
            return
        publisher.round()
        if troubles := list(publisher.troubles.standing.values()):
            raise CommandError(" ".join(troubles))


def _targets() -> list[Target]:
    targets: list[Target] = []
    if settings.CHECKPOINT_FILE:
        targets.append(ToFile(Path(settings.CHECKPOINT_FILE)))
    if settings.CHECKPOINT_WEBHOOK:
        targets.append(ToWebhook(check_address(settings.CHECKPOINT_WEBHOOK)))
    if settings.WITNESS_URL:
        if not settings.WITNESS_KEY:
            raise BadTarget("Set COUNTERSEAL_WITNESS_KEY to what the witness said when it started, or to its file.")
        targets.append(ToWitness(check_address(settings.WITNESS_URL), settings.WITNESS_KEY))
    if not targets:
        raise BadTarget(
            "Set COUNTERSEAL_CHECKPOINT_FILE, COUNTERSEAL_CHECKPOINT_WEBHOOK or COUNTERSEAL_WITNESS_URL: "
            "a checkpoint that nobody outside has can be taken back."
        )
    return targets
