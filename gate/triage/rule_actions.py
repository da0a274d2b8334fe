"""What people do to rules besides drafting and activating. Each change is one function: lock, check, change, record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils import timezone

from audit import log, outbox, seconding, twohands
from audit.kinds import Kind
from audit.models import Definition
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import rule_guards
from gate.triage.models import Draft
from gate.triage.rule_models import OPEN, Drift, Flip, FlipSignature, Job, Replay, Trial

QUEUE = "trials"  # and not that of verdicts: no draft waits for a trial
TRY, REPLAY = "gate.triage.tasks.try_rule", "gate.triage.tasks.replay_cases"


@transaction.atomic
def ask_for_trial(version: Definition, *, by: Person) -> Trial:
    """Have a version tried on everything on record, against what is in force. Raises NotAllowed."""
    seconding.lock(f"trial {version.name}")
    rule_guards.check_can_try(by, version)
    newest = Draft.objects.filter(rule=version.name).order_by("-pk").values_list("pk", flat=True).first()
    trial = Trial.objects.create(
        definition=version, against=twohands.active("rule", version.name), rule_hash=version.body["hash"],
        upto=newest or 0, asked_by=by,
    )  # fmt: skip
    outbox.enqueue(TRY, QUEUE, trial.pk)
    _record(Kind.RULE_TRIED, by, str(version), f"trial {trial.pk}", {"trial": trial.pk, "upto": trial.upto})
    return trial


@transaction.atomic
def sign_flips(version: Definition, flips: Sequence[Flip], *, by: Person, reason: str) -> None:
    """Stand for fails that become passes, as they were shown. Raises NotAllowed."""
    rule_guards.check_can_sign(by, flips)
    FlipSignature.objects.bulk_create(
        (
            FlipSignature(
                definition=version, subject=flip.subject, receipt_sha256=flip.receipt_sha256, reason=reason, by=by
            )
            for flip in flips
        ),
        ignore_conflicts=True,
    )
    signed = [{"subject": flip.subject, "receipt": flip.receipt_sha256} for flip in flips]
    _record(Kind.RULE_FLIPS_SIGNED, by, str(version), reason, {"flips": signed, "reason": reason})


@transaction.atomic
def ask_for_replay(*, by: Person) -> Replay:
    """Have every case replayed by the rules in force; the one that runs already, if any. Raises NotAllowed."""
    if not by.has_perm("gate.replay_cases"):
        raise NotAllowed("Your role does not replay cases; someone on call or an admin does.")
    seconding.lock("replay")
    running = Replay.objects.filter(status__in=(Job.WAITING, Job.RUNNING)).order_by("-pk").first()
    if running is not None:
        return running
    replay = Replay.objects.create(asked_by=by)
    outbox.enqueue(REPLAY, QUEUE, replay.pk)
    _record(Kind.RULE_REPLAYED, by, "rules", f"replay {replay.pk}", {"replay": replay.pk})
    return replay


@transaction.atomic
def stop(job: Trial | Replay, *, by: Person) -> None:
    """Stop what runs; what it found stays to be read. Raises NotAllowed."""
    if not by.has_perm("gate.replay_cases" if isinstance(job, Replay) else "gate.change_definition"):
        raise NotAllowed("Your role does not stop this; an admin does.")
    is_stopped = type(job).objects.filter(pk=job.pk, status__in=OPEN).update(status=Job.STOPPED)
    if not is_stopped:
        raise NotAllowed("It has come to its end already.")
    kind = Kind.RULE_REPLAYED if isinstance(job, Replay) else Kind.RULE_TRIED
    _record(kind, by, "rules", f"{job._meta.verbose_name} {job.pk} stopped", {"stopped": job.pk})


@transaction.atomic
def settle_drift(pk: int, *, by: Person, reason: str) -> Drift:
    """Say what a change in a tool's answers is about, so that it is no notice any more. Raises NotAllowed."""
    drift = Drift.objects.select_for_update().get(pk=pk)
    if not by.has_perm("gate.change_definition"):
        raise NotAllowed("Your role does not settle this; an admin does.")
    if drift.settled_at is not None:
        raise NotAllowed("This was settled already.")
    drift.settled_by, drift.settled_at, drift.settled_why = by, timezone.now(), reason
    drift.save(update_fields=["settled_by", "settled_at", "settled_why"])
    about = {"tool": drift.tool, "path": drift.path, "what": drift.what, "reason": reason}
    _record(Kind.DRIFT_SETTLED, by, f"tool {drift.tool}", f"{drift.path}: {reason}", about)
    return drift


def _record(kind: Kind, by: Person, subject: str, summary: str, args: Mapping[str, object]) -> None:
    log.record_with(kind, by.actor(), subject=subject, summary=summary[:200], args=dict(args))
