"""CloudWatch as a kind of source: alarms, metrics, logs, and the events of RDS, out of a closed list of operations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import simplejson

from audit.models import Definition
from evidence import credentials
from evidence.bounds import Limits
from evidence.errors import Problem, Refused
from evidence.kinds import bound, saying
from evidence.kinds.cloudwatch import asking, keys, native, policies, role
from evidence.kinds.cloudwatch.completeness import CODES, incomplete
from evidence.kinds.fields import ENVIRONMENT, Field, Sort, accepts
from evidence.kinds.fields import credentials as credentials_of
from evidence.kinds.kind import Found, request_of
from evidence.layers import Attack
from evidence.stating import Proven

if TYPE_CHECKING:
    from evidence.contracts import Contract

OPERATIONS = "the closed list of operations, all of them reads"
PARAMETERS = "the parameters, each read against its own list"
OWN = "the read itself: it stops none but the query that it started"
HOST = "the host, which follows from the region, over TLS"
LIMITS = "the limits of time, rows and bytes"
NEEDED = {"kind", "region", "environment", "reader_env", "doctor_env", "log_groups"}
OPTIONAL = {"accepts", "query_seconds"}
REGION = re.compile(r"[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}", re.ASCII)
GROUP = re.compile(r"[A-Za-z0-9_/.#-]{3,511}\*?", re.ASCII)
MOST_GROUPS = 50
LONGEST_QUERY = 60  # seconds for which a query of Logs Insights is waited for at most
ENDS = {"reader_env": "_READER_TOKEN", "doctor_env": "_DOCTOR_TOKEN"}


class CloudWatch:
    """Amazon CloudWatch with its logs, and the events of Amazon RDS, in one region of one account."""

    name = "cloudwatch"
    title = "Amazon CloudWatch with its logs, and the events of Amazon RDS"
    fields = (
        Field("region", "Region", "Like eu-west-1.", is_needed=True),
        ENVIRONMENT, *credentials_of("TOKEN"),
        Field("log_groups", "Log groups that tools may search, one a line",
              "Names, or their beginning with * behind it, like /aws/lambda/shop-*.", Sort.LINES, is_needed=True,
              is_listed_empty=True),
        Field("query_seconds", "Seconds for which a query of logs is waited for", "Up to 60; then it is stopped.",
              Sort.NUMBER),
        accepts(policies.ACCEPTABLE),
    )  # fmt: skip
    attacks = (
        Attack("Changing alarms, metrics, logs and databases", ("writes", "tries"), OPERATIONS),
        Attack("Becoming another: roles, keys, policies", ("writes", "tries", "signed_in"), OPERATIONS),
        Attack("Running code: functions, commands, LAMBDA() in an expression", ("writes", "tries"), PARAMETERS),
        Attack("Reading secrets, parameters and files", ("writes", "tries"), OPERATIONS),
        Attack("Reading other log groups and what is masked in them", ("log_groups",), PARAMETERS),
        Attack("Reading other accounts and regions", (), PARAMETERS),
        Attack("What policies of resources and other accounts allow", (), OPERATIONS),
        Attack("Stopping queries of others, by numbers that are listed to whoever may see them", ("actions",), OWN),
        Attack("Leading the client elsewhere: endpoints, proxies, profiles of the machine", (), HOST),
        Attack("Answers without end, queries without end", (), LIMITS),
    )
    codes: Mapping[str, str] = CODES
    source_example: Mapping[str, Any] = {
        "kind": "cloudwatch",
        "region": "eu-west-1",
        "reader_env": "MYCLOUD_READER_TOKEN",
        "doctor_env": "MYCLOUD_DOCTOR_TOKEN",
        "environment": "production",
        "log_groups": ["/aws/lambda/myshop-*"],
    }
    tool_example: Mapping[str, Any] = {
        "request": {
            "operation": "DescribeEvents",
            "parameters": {"Duration": {"argument": "job_id"}},
        }
    }

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes a region and what of it is exposed."""
        saying.check_keys(body, NEEDED, OPTIONAL)
        credentials.check_two(body)
        saying.check_environment(body)
        saying.check_accepts(body, policies.ACCEPTABLE)
        for key, end in ENDS.items():
            if not body[key].endswith(end):
                raise ValueError(f"{key} ends with {end}, which says what it is and who is given it.")
        if not isinstance(body["region"], str) or REGION.fullmatch(body["region"]) is None:
            raise ValueError("region is the name of a region, like eu-west-1.")
        _check_groups(body["log_groups"])
        seconds = body.get("query_seconds", 1)
        if not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 < seconds <= LONGEST_QUERY:
            raise ValueError(f"query_seconds is how long a query of logs is waited for, up to {LONGEST_QUERY}.")

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body's request can become nothing but a read."""
        asking.check(bound.request(body), body)

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The reader's and the doctor's variables."""
        return source.body["reader_env"], source.body["doctor_env"]

    def address(self, source: Definition) -> str:
        """The region and the reader's access key. Raises Problem when it is unset or is none."""
        try:
            return keys.address(source, keys.of(source, "reader_env"))
        except Refused as refused:
            raise Problem(503, "source_unset", refused.sentence) from refused

    def prove(self, source: Definition) -> Proven:
        """Both sides of the proof: see proof."""
        from evidence.kinds.cloudwatch import proof  # it loads boto3, which most processes never need

        return proof.prove(source)

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One operation, sent once. Raises Refused, or Problem for a credential that is not set."""
        from evidence.kinds.cloudwatch import amazon, running  # they load boto3, which takes a second and 30 MB

        asked, held = asking.compose(request_of(contract), source.body, given, limits), keys.of(source, "reader_env")
        now = datetime.now(UTC)
        client = amazon.client(asked.operation.service, source.body["region"], held, limits.seconds)
        with amazon.refusals(source.name, held):
            found = getattr(client, asked.operation.method)(**asked.parameters)
            codes: tuple[str, ...] = ()
            if asked.name == "StartQuery":
                found, codes = running.result(client, found, source.body.get("query_seconds", limits.seconds))
        answer = native.answer(found)
        if len(simplejson.dumps(answer, use_decimal=True)) > limits.bytes:
            raise Refused("too_large", f"The answer is larger than {limits.bytes:,} bytes; narrow the arguments.")
        return Found(answer, False, (*incomplete(asked.name, asking.about(asked, now), answer), *codes))

    def strongest_reader(self, source: Definition) -> list[str]:
        """The reader's and the doctor's policies. Raises Problem where the account cannot be asked for."""
        return list(role.script(source))


def _check_groups(found: Any) -> None:
    if not isinstance(found, list) or len(found) > MOST_GROUPS:
        raise ValueError(f"log_groups lists the log groups that tools may search, at most {MOST_GROUPS}.")
    for group in found:
        if not isinstance(group, str) or GROUP.fullmatch(group) is None:
            raise ValueError(f"{str(group)[:60]} is none of log_groups: a name, or its beginning with * behind it.")
