"""The proof of a reader of AWS: who it is by its own word, and what the doctor finds in its policies and IAM says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from audit.models import Definition
from evidence.errors import Problem, Refused
from evidence.kinds.cloudwatch import amazon, keys, policies
from evidence.kinds.cloudwatch.keys import Key
from evidence.stating import Proven, Seen, Weight, excused, unreached

SECONDS = 10.0  # for one question of the proof
_USER = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:user/(?:.*/)?([\w+=,.@-]+)", re.ASCII)
_SESSION = re.compile(r"arn:aws[a-z-]*:sts::\d{12}:assumed-role/([\w+=,.@-]+)/.+", re.ASCII)


def prove(source: Definition) -> Proven:
    """Both sides. A side that cannot be seen is a fact that does not hold."""
    region = source.body["region"]
    try:
        reader, doctor = (keys.of(source, which) for which in ("reader_env", "doctor_env"))
        with amazon.refusals(source.name, reader, doctor):
            arn, other = _who(region, reader), _who(region, doctor)
            facts = [
                *policies.of_identity(arn, other),
                *_rights(region, doctor, arn, source.body["log_groups"]),
                *NOTES,
            ]
    except (Refused, Problem) as error:
        return unreached(error.sentence)
    accepted = source.body.get("accepts", ())
    return Proven(keys.address(source, reader), arn, f"AWS {region}", [excused(fact, accepted) for fact in facts])


NOTES = (
    Seen("resource_policies", "What the policies of buckets, keys, queues and other accounts give it besides.", True,
         "not seen from here; it rests on the list of operations", "", Weight.NOTE),
    Seen("stops_queries", "What it does besides reading: it stops its own query of logs when the time is over.", True,
         "StopQuery, for the number that its own StartQuery came back with; nothing that is kept changes", "",
         Weight.NOTE),
)  # fmt: skip


def _who(region: str, held: Key) -> str:
    found = amazon.client("sts", region, held, SECONDS).get_caller_identity()
    return str(found.get("Arn", ""))


def _rights(region: str, doctor: Key, arn: str, exposed: list[str]) -> Iterator[Seen]:
    """Its policies, and IAM's simulation of them. Raises Refused for a principal that has none of its own."""
    iam = amazon.client("iam", region, doctor, SECONDS)
    user, session = _USER.fullmatch(arn), _SESSION.fullmatch(arn)
    if user is None and session is None:
        raise Refused("unseen", f"{arn[:100]} is neither a user nor a role, so its rights cannot be looked at.")
    looking = _Looking(iam)
    documents = list(looking.of_user(user[1]) if user else looking.of_role(session[1]) if session else ())
    yield from policies.of_policies(documents, exposed, looking.is_whole)
    principal = arn if user else iam.get_role(RoleName=session[1] if session else "")["Role"]["Arn"]
    answer = iam.simulate_principal_policy(PolicySourceArn=principal, ActionNames=list(policies.WRITES))
    yield policies.of_simulation(answer.get("EvaluationResults", []), answer.get("IsTruncated") is not True)


class _Looking:
    """The policy documents of a principal, and whether each list of them came whole."""

    def __init__(self, iam: Any) -> None:
        self.iam = iam
        self.is_whole = True

    def of_user(self, name: str) -> Iterator[Any]:
        yield from self._of("user", UserName=name)
        for group in self._listed(self.iam.list_groups_for_user, "Groups", UserName=name):
            yield from self._of("group", GroupName=group["GroupName"])

    def of_role(self, name: str) -> Iterator[Any]:
        yield from self._of("role", RoleName=name)

    def _of(self, kind: str, **whose: str) -> Iterator[Any]:
        attached = getattr(self.iam, f"list_attached_{kind}_policies")
        for policy in self._listed(attached, "AttachedPolicies", **whose):
            yield self._document(policy["PolicyArn"])
        for name in self._listed(getattr(self.iam, f"list_{kind}_policies"), "PolicyNames", **whose):
            yield getattr(self.iam, f"get_{kind}_policy")(PolicyName=name, **whose)["PolicyDocument"]

    def _document(self, arn: str) -> Any:
        version = self.iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        return self.iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]

    def _listed(self, call: Callable[..., Any], key: str, **whose: str) -> list[Any]:
        found = call(**whose)
        self.is_whole = self.is_whole and found.get("IsTruncated", False) is False
        return list(found.get(key, []))
