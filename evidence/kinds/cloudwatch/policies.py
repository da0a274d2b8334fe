"""What a principal of AWS may do, read from its own policies and from IAM's simulation of writes. Pure.

Two sides: each action that a statement allows must be known to be a read, and IAM must deny each write by name. A
wildcard allows whatever it may ever match, so it is a read only where its verb is written out (logs:Get*).
Sources: the grammar of IAM policies, the actions of CloudWatch, CloudWatch Logs and RDS in the service authorization
reference, and the answers of SimulatePrincipalPolicy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from evidence.kinds.cloudwatch.operations import is_exposed
from evidence.stating import Seen, Weight

NEEDED = (
    "cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData", "logs:FilterLogEvents", "logs:GetQueryResults",
    "logs:StartQuery", "logs:StopQuery", "rds:DescribeEvents",
)  # fmt: skip
OF_GROUPS = frozenset(("logs:startquery", "logs:filterlogevents"))
# Of these three services the verbs say what an action does. Of others a `Get` may hand out credentials (sts, ecr), or
# secrets, or whole files (s3), so that nothing of them is taken for a read.
READ = re.compile(
    r"(?:cloudwatch:(?:describe|get|list)|logs:(?:describe|filter|get|list|startquery$|stopquery$|testmetricfilter$)"
    r"|rds:(?:describe|list))[a-z]*\*?"
)
WRITES = (
    "cloudwatch:PutMetricAlarm", "cloudwatch:PutMetricData", "cloudwatch:SetAlarmState", "cloudwatch:DeleteAlarms",
    "cloudwatch:DisableAlarmActions", "cloudwatch:PutDashboard", "logs:PutLogEvents", "logs:CreateLogGroup",
    "logs:DeleteLogGroup", "logs:DeleteLogStream", "logs:PutRetentionPolicy", "logs:PutSubscriptionFilter",
    "logs:PutResourcePolicy", "logs:CreateExportTask", "logs:Unmask", "rds:ModifyDBInstance", "rds:DeleteDBInstance",
    "rds:RebootDBInstance", "rds:CreateDBSnapshot", "rds-data:ExecuteStatement", "s3:PutObject", "s3:DeleteObject",
    "ec2:RunInstances", "ec2:TerminateInstances", "ec2:StopInstances", "lambda:InvokeFunction",
    "lambda:UpdateFunctionCode", "ssm:SendCommand", "ssm:StartSession", "ecs:ExecuteCommand", "dynamodb:PutItem",
    "sqs:SendMessage", "sns:Publish", "secretsmanager:GetSecretValue", "ssm:GetParameter", "kms:Decrypt",
    "sts:AssumeRole", "iam:PassRole", "iam:CreateUser", "iam:CreateAccessKey", "iam:CreatePolicyVersion",
    "iam:AttachUserPolicy", "iam:AttachRolePolicy", "iam:PutUserPolicy", "iam:PutRolePolicy",
    "iam:UpdateAssumeRolePolicy",
)  # fmt: skip
DENIED = ("implicitDeny", "explicitDeny")
POLICY = "Give the reader the policy that manage.py reader_role prints, and no other."
ACCEPTABLE = frozenset(("actions", "log_groups", "policies_whole"))
_GROUP = re.compile(r"arn:aws[a-z-]*:logs:[a-z0-9*-]*:[0-9*]*:log-group:([A-Za-z0-9_/.#*-]+?)(?::\*|:log-stream:\*?)?")


def of_policies(documents: Iterable[Any], exposed: list[str], is_whole: bool = True) -> list[Seen]:
    """The facts about the policies of a principal: its own, its groups', inline and attached."""
    allowed = [one for document in documents for one in _allowed(document)]
    actions = [action for action, _ in allowed]
    writes = [action for action in actions if READ.fullmatch(action.lower()) is None]
    more = [action for action in actions if action not in writes and action.lower() not in _lower(NEEDED)]
    searched = [group for action, group in allowed if _searches(action) and not _is_of_source(group, exposed)]
    return [
        _seen("policies_whole", "All of its policies can be seen.", [] if is_whole else ["not all of them"],
              Weight.LAYER),
        _seen("writes", "Its policies allow nothing but reads of CloudWatch, its logs and RDS.", writes),
        _seen("actions", "Its policies allow what the source's tools need, and no other read.", more, Weight.LAYER),
        _seen("log_groups", "It searches the log groups that the source exposes, and no other.", searched,
              Weight.LAYER),
    ]  # fmt: skip


def of_simulation(results: Any, is_whole: bool = True) -> Seen:
    """The fact about IAM's simulation of each write. A decision that lacks something to decide by counts as a yes."""
    denied = [one.get("EvalActionName") for one in results if _is_denied(one)] if isinstance(results, list) else []
    granted = [action for action in WRITES if action not in denied] + ([] if is_whole else ["not all were answered"])
    return _seen("tries", "IAM denies it each write by name.", granted, shown=f"{len(WRITES)} actions denied")


def _is_denied(one: Any) -> bool:
    return isinstance(one, dict) and one.get("EvalDecision") in DENIED and not one.get("MissingContextValues")


def of_identity(arn: str, other: str) -> list[Seen]:
    """The facts that the reader is no root, and another than the doctor."""
    wrong = [arn or "nobody"] if arn.endswith(":root") or not arn else []
    return [
        _seen("signed_in", "It signs in, and not as the account's root.", wrong, shown=arn),
        Seen("another_doctor", "The doctor is another principal than the reader.", arn != other,
             f"the doctor is {other}", "Give the doctor an access key of its own user."),
    ]  # fmt: skip


def reader_policy(region: str, account: str, exposed: list[str]) -> dict[str, Any]:
    """The strongest reader's policy: what the tools need, its searches of logs in the exposed groups alone."""
    searching = [action for action in NEEDED if action.lower() in OF_GROUPS]
    groups = [f"arn:aws:logs:{region}:{account}:log-group:{group}:*" for group in exposed]
    others = [action for action in NEEDED if action not in searching]
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": others, "Resource": "*"},
            *([{"Effect": "Allow", "Action": searching, "Resource": groups}] if groups else []),
        ],
    }


DOCTOR_ACTIONS = (
    "iam:GetPolicy", "iam:GetPolicyVersion", "iam:GetRole", "iam:GetRolePolicy", "iam:GetUserPolicy",
    "iam:GetGroupPolicy", "iam:ListAttachedGroupPolicies", "iam:ListAttachedRolePolicies",
    "iam:ListAttachedUserPolicies", "iam:ListGroupPolicies", "iam:ListGroupsForUser", "iam:ListRolePolicies",
    "iam:ListUserPolicies", "iam:SimulatePrincipalPolicy",
)  # fmt: skip


def doctor_policy() -> dict[str, Any]:
    """The doctor's policy: it reads policies and has them simulated."""
    return {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": list(DOCTOR_ACTIONS), "Resource": "*"}],
    }


def _allowed(document: Any) -> Iterator[tuple[str, str]]:
    """Each action that a document allows, with each resource. What cannot be read allows everything."""
    statements = document.get("Statement") if isinstance(document, dict) else None
    listed = [statements] if isinstance(statements, dict) else statements
    for statement in listed if isinstance(listed, list) else [None]:
        if not isinstance(statement, dict) or statement.get("Effect") not in ("Allow", "Deny"):
            yield "*", "*"
        elif statement["Effect"] == "Allow":
            yield from _of_statement(statement)


def _of_statement(statement: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What has no Action has a NotAction: all but a few, which is taken for all. No condition is counted on."""
    for action in _texts(statement.get("Action")) or ["*"]:
        for resource in _texts(statement.get("Resource")) or ["*"]:
            yield action, resource


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(one) for one in value] if isinstance(value, list) else []


def _lower(names: Collection[str]) -> set[str]:
    return {name.lower() for name in names}


def _searches(action: str) -> bool:
    """Whether an action searches a log group; a wildcard may."""
    name = action.lower()
    return name in OF_GROUPS or (name.endswith("*") and any(one.startswith(name[:-1]) for one in OF_GROUPS))


def _is_of_source(resource: str, exposed: list[str]) -> bool:
    found = _GROUP.fullmatch(resource)
    if found is None:
        return False
    group = found[1]
    return group in exposed or (not group.endswith("*") and is_exposed(group, exposed))


def _seen(name: str, sentence: str, contrary: Iterable[str], weight: Weight = Weight.WALL, shown: str = "") -> Seen:
    listed = sorted(set(contrary))
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    seen = f"{', '.join(listed[:5])}{more}" if listed else shown or "nothing contrary"
    return Seen(name, sentence, not listed, seen, POLICY if listed else "", weight)
