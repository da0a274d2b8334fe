"""What a rule version has to show before it decides anything, and who may ask for it. Each rule raises its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audit import twohands
from audit.models import Definition
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import known_cases
from gate.triage.models import Draft, Review
from gate.triage.recorded_cases import CaseError
from gate.triage.rule_models import OPEN, Flip, FlipSignature, Job, Trial

LEAST_SCORE = 90  # percent of the changes of evidence that must turn a pass into a fail
TRIABLE = (Definition.Status.DRAFT, Definition.Status.SHADOW)


def check_can_try(person: Person, version: Definition) -> None:
    """Raises NotAllowed when the person changes no rules, the version is not to be activated, or a trial runs."""
    twohands.check_may_change(version.kind, person)
    if version.status not in TRIABLE:
        raise NotAllowed(
            f"Version {version.version} of {version.name} is {version.status}; a draft is tried, or one in shadow."
        )
    if Trial.objects.filter(definition=version, status__in=OPEN).exists():
        raise NotAllowed(f"Version {version.version} of {version.name} is being tried already.")


def check_can_sign(person: Person, flips: Sequence[Flip]) -> None:
    """Raises NotAllowed when the person changes no rules, or one of the flips is none to be signed."""
    twohands.check_may_change("rule", person)
    if not flips:
        raise NotAllowed("Choose what you sign: nothing was chosen.")
    if any(flip.kind != Flip.Kind.FAIL_TO_PASS for flip in flips):
        raise NotAllowed("Only a fail that becomes a pass is signed.")
    known = [flip.subject for flip in flips if flip.is_known_false]
    if known:
        raise NotAllowed(f"{known[0]} is known not to be fine, so nobody can sign that it passes.")


def check_earned(version: Definition, by: Any) -> None:
    """Raises NotAllowed unless the version's newest trial holds for what is on record now, and shows enough."""
    trial = newest_trial(version)
    if trial is None or trial.status != Job.DONE:
        raise NotAllowed(_not_tried(version, trial))
    _check_current(trial, version)
    _check_score(trial)
    _check_flips(trial, by)


def newest_trial(version: Definition) -> Trial | None:
    """The trial of a version that was asked for last."""
    return Trial.objects.filter(definition=version).order_by("-pk").first()


def _not_tried(version: Definition, trial: Trial | None) -> str:
    name = f"Version {version.version} of {version.name}"
    if trial is None:
        return f"{name} was not tried on the cases and the recorded investigations; try it first."
    if trial.status in OPEN:
        return f"{name} is being tried; wait for the end of it."
    return f"The last trial of {name} came to no end ({trial.why or trial.status}); try it again."


def _check_current(trial: Trial, version: Definition) -> None:
    in_force = twohands.active("rule", version.name)
    if trial.rule_hash != version.body["hash"] or trial.against_id != (in_force.pk if in_force else None):
        raise NotAllowed("Another version came in force since it was tried; try it again.")
    if Draft.objects.filter(rule=version.name, pk__gt=trial.upto).exists():
        raise NotAllowed("Investigations were decided since it was tried; try it again, which takes them in.")
    if Review.objects.filter(draft__rule=version.name, act=Review.Act.OVERRULE, at__gt=trial.asked_at).exists():
        raise NotAllowed("A verdict was overruled since it was tried; try it again, which takes that in.")
    if _cases_digest() != trial.cases_digest:
        raise NotAllowed("The cases are others than when it was tried; try it again.")


def _cases_digest() -> str:
    try:
        return known_cases.digest(known_cases.sources())
    except CaseError as problem:
        raise NotAllowed(f"The cases cannot be read. {problem.sentence}") from problem


def _check_score(trial: Trial) -> None:
    if not any(case["expected"] == "fail" and case["verdict"] == "fail" for case in trial.cases):
        raise NotAllowed(
            "No case that must fail was there to fail, so nothing shows that it can; promote one, or add a file."
        )
    if trial.mutants == 0:
        raise NotAllowed(
            "No case that must pass has passed, so its evidence could not be changed; promote one, or add a file."
        )
    if trial.noticed * 100 < LEAST_SCORE * trial.mutants:
        raise NotAllowed(
            f"It notices {score(trial)} of the changes of its evidence; at least {LEAST_SCORE} % are needed. "
            "Its blind spots say what to check."
        )


def score(trial: Trial) -> str:
    """The mutation score in words, cut and never rounded up."""
    return f"{trial.noticed * 1000 // trial.mutants / 10:.1f} %" if trial.mutants else "none"


def _check_flips(trial: Trial, by: Any) -> None:
    known = trial.flips.filter(is_known_false=True).first()
    if known is not None:
        raise NotAllowed(f"{known.subject} would pass, and it is known not to be fine. That blocks this version.")
    missing = [flip.subject for flip in unsigned(trial, by)]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise NotAllowed(
            f"A fail becomes a pass in {missing[0]}{more}; whoever activates signs for each of them first."
        )


def unsigned(trial: Trial, by: Any) -> list[Flip]:
    """The fails that become passes and that this person has not signed as they are."""
    signed = set(
        FlipSignature.objects.filter(definition=trial.definition_id, by=by).values_list("subject", "receipt_sha256")
    )
    flips = trial.flips.filter(kind=Flip.Kind.FAIL_TO_PASS)
    return [flip for flip in flips if (flip.subject, flip.receipt_sha256) not in signed]
