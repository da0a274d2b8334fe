"""The agents' API against its own OpenAPI: whatever is sent, it answers what the schema says and never breaks.

Schemathesis draws the requests: fitting ones, ones at each boundary, ones spoiled in one place, other methods, and
rows of calls that the schema's links connect.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
import requests
import schemathesis
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, settings
from schemathesis import Case

from evidence import recording
from gate.config import openapi
from gate.triage.models import Finding, Incident, Investigation
from gate.writes.models import AdmissionRequest, WriteRequest
from tests.doors.conftest import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("gate.config.urls_agents")]
CONFIG = {
    "seed": 1,
    "generation": {"deterministic": True, "max-examples": 30, "with-security-parameters": False},
    "checks": {
        "positive_data_acceptance": {"expected-statuses": ["2xx", "401", "403", "404", "409", "422", "429", "502"]}
    },
}
STATED = json.loads(json.dumps(SchemaGenerator(urlconf="gate.config.urls_agents").get_schema(public=True)))
SCHEMA = schemathesis.openapi.from_dict(STATED, config=schemathesis.Config.from_dict(CONFIG))
# Refusals of a body's form. The others are about what it says, of which a schema knows nothing.
OF_FORM = {"wrong_arguments", "wrong_report", "unknown_key", "invalid", "parse_error"}
OPERATIONS = {about["operationId"]: (path, about) for path, of in STATED["paths"].items() for about in of.values()}
# What calls make; what refers to another comes first.
MADE = (AdmissionRequest, WriteRequest, Finding, Investigation, Incident)
DRAWN = settings(suppress_health_check=list(HealthCheck), database=None, deadline=None)
WRITE = {
    "statement": "update shop.jobs set state = $1 where job_id = $2",
    "parameters": [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "7"}],
}


class Plane:
    """The plane where it runs, and who comes with which token."""

    def __init__(self, url: str, world: World, session: requests.Session) -> None:
        self.url, self.world, self.session = url, world, session
        self.statuses: set[int] = set()

    def holders(self, case: Case) -> tuple[str, tuple[str | None, ...]]:
        """The token that the operation asks for, and those that are not good for it."""
        own, other = self.world.agent_token, self.world.intake_token
        if "intakeToken" in case.operation.definition.raw["security"][0]:
            own, other = other, own
        return own, (None, "csa_unknown", other)

    def ask(self, case: Case, token: str | None) -> Any:
        """Send it, and check the answer against the schema."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = case.call_and_validate(base_url=self.url, session=self.session, headers=headers)
        assert not is_refused_for_its_form(case, answer), f"{case.as_curl_command()}\n{answer.text}"
        self.statuses.add(answer.status_code)
        return answer

    def post(self, operation: str, body: bytes, kind: str = "application/json") -> requests.Response:
        """Send a body as it is, to what there is, with the right token."""
        path = OPERATIONS[operation][0].format(name="find_job", investigation=self.world.running.pk)
        token = self.world.intake_token if operation == "report_incident" else self.world.agent_token
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
        return self.session.post(self.url + path, data=body, headers=headers)

    def aim(self, case: Case) -> None:
        """Let half of the fitting requests be about what there is."""
        if is_fitting(case) and digest_of(case) % 2:
            known = {"investigation": self.world.running.pk, "id": self.world.own_write.pk, "name": "find_job"}
            case.path_parameters = {name: known[name] for name in case.path_parameters}
            if isinstance(case.body, dict):
                case.body = {**case.body, **self.known(case.operation.definition.raw["operationId"])}

    def known(self, operation: str) -> dict[str, Any]:
        """Parts of a body that name what there is."""
        now = timezone.now().isoformat()
        return {
            "report_incident": {"class": "job_failed", "subject": {"job_id": 5}, "began_at": now, "recovered_at": now},
            "start_investigation": {"incident": self.world.waiting.ref},
            "propose_write": {"target": "shop", "title": "Requeue", "reason": "Stuck.", "incident": "", **WRITE},
            "call_tool": {"arguments": {"job_id": 13}, "investigation": self.world.running.pk},
        }.get(operation, {})


def digest_of(case: Case) -> int:
    """A number that depends on nothing but what was drawn."""
    return zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode("utf-8", "replace"))


def is_fitting(case: Case) -> bool:
    """Whether the request was drawn to fit what the schema states."""
    return case.meta is not None and case.meta.generation.mode.is_positive


def is_refused_for_its_form(case: Case, answer: Any) -> bool:
    """Whether a body that fits what the schema states was taken for one that does not."""
    if not is_fitting(case) or holds_point(case.body) or answer.status_code < 400:
        return False  # that 1.0 is no whole number here, a schema cannot say
    return answer.json()["code"] in OF_FORM and case.operation.definition.raw["operationId"] != "call_tool"


def holds_point(value: Any) -> bool:
    """Whether a number with a point is anywhere in the value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, float) or any(map(holds_point, inner))


@pytest.fixture
def plane(world: World, served: str) -> Iterator[Plane]:
    with requests.Session() as session:
        session.trust_env = False
        yield Plane(served, world, session)


@pytest.fixture
def answered(plane: Plane) -> Iterator[None]:
    """What was drawn must have got through, too: else nothing behind the forms was tried."""
    yield
    assert any(status < 300 for status in plane.statuses), plane.statuses


@SCHEMA.parametrize()
@DRAWN
def test_it_answers_what_its_schema_says(case: Case, plane: Plane, answered: None) -> None:
    plane.aim(case)
    plane.ask(case, plane.holders(case)[0])


@SCHEMA.parametrize()
@settings(DRAWN, max_examples=5)
def test_without_the_right_token_nothing_answers(case: Case, plane: Plane) -> None:
    plane.aim(case)
    wrong = plane.holders(case)[1]
    answer = plane.ask(case, wrong[digest_of(case) // 2 % len(wrong)])
    assert answer.status_code in (401, 404, 405), answer.text


def test_it_serves_the_schema_that_was_drawn_from(plane: Plane) -> None:
    accepted = {"Accept": "application/vnd.oai.openapi+json"}
    assert plane.session.get(f"{plane.url}/api/v1/schema", headers=accepted).json() == STATED


# Each of these the schema once admitted, and the address refused.
MISFITS = [
    ("report_incident", {"title": ""}),
    ("report_incident", {"title": " \n"}),
    ("report_incident", {"title": "a\0"}),
    ("report_incident", {"dedup_key": ""}),
    ("report_incident", {"subject": {"\0": None}}),
    ("report_incident", {"subject": {"job_id": "\0"}}),
    ("report_incident", {"facts": {"error": "x" * 501}}),
    ("report_incident", {"facts": {"error": 1.5}}),
    ("report_incident", {"facts": dict.fromkeys(map(str, range(21)))}),
    ("report_incident", {"more": 1}),
    ("start_investigation", {"incident": ""}),
    ("start_investigation", {"incident": "I-0"}),
    ("start_investigation", {"incident": 0}),
    ("start_investigation", {"incident": 10**18}),
    ("start_investigation", {"more": 1}),
    ("submit_findings", {"answer": "a\0"}),
    ("submit_findings", {"verdict": "pass"}),
    ("submit_findings", {"findings": [{"fact": "f", "audit_id": "A-1", "note": "\0"}]}),
    ("submit_findings", {"findings": [{"fact": "f", "audit_id": "A-1", "verdict": "pass"}]}),
    ("call_tool", {"more": 1}),
    ("call_tool", {"investigation": 0}),
]
FITTING = {
    "report_incident": {"class": "job_failed", "title": "a", "subject": {}, "began_at": "2026-11-29T02:10:44Z"},
    "start_investigation": {},
    "submit_findings": {"hypothesis": "h", "findings": [], "answer": "a"},
    "call_tool": {"arguments": {"job_id": 1}, "investigation": None},
    "propose_write": {**WRITE, "target": "shop", "title": "a", "reason": "a", "incident": ""},
}
# Texts that a JSON library reads, or fails at, in ways of its own.
HOSTILE = (
    "[" * 5_000 + "]" * 5_000, '{"a":' * 5_000 + "1" + "}" * 5_000, "9" * 5_000, "1e99999", "-1e-99999", "NaN",
    "-Infinity", '"\\ud800"', '"\\u0000"', '"' + "x" * 70_000 + '"', '{"\\ud800": "\\udfff"}', '"', "{", "0x1",
    "\0", "",
)  # fmt: skip
ENCODED = (*("{}".encode(encoding) for encoding in ("utf-16", "utf-32", "utf-8-sig")), b"\xff", b"\xed\xa0\x80")
KINDS = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset=x")


@pytest.mark.parametrize("operation", FITTING)
def test_a_hostile_body_is_refused_as_the_schema_says(plane: Plane, operation: str) -> None:
    whole = FITTING[operation]
    marked = [json.dumps({**whole, name: "HERE"}) for name in [*whole, "more"]]
    sent = [text.replace('"HERE"', hostile).encode() for text in [*marked, '"HERE"'] for hostile in HOSTILE]
    sent += [json.dumps({**whole, name: 1}).encode() for name in ("\ud800", "\0", "", "x" * 70_000)]
    sent += [b'{"title": 1, "title": 2}', *ENCODED]
    tries = [(body, "application/json") for body in sent] + [(json.dumps(whole).encode(), kind) for kind in KINDS]
    for body, kind in tries:
        recording.counting.counts.clear()  # past so many refusals a minute, they would not be recorded
        answer = plane.post(operation, body, kind)
        said = OPERATIONS[operation][1]["responses"].get(str(answer.status_code), {"content": {}})
        assert answer.status_code < 500, (body[:200], kind, answer.text)
        assert answer.headers["content-type"] in said["content"], (body[:200], kind, answer.text)


def test_a_body_that_is_refused_for_its_form_does_not_fit_the_schema(plane: Plane) -> None:
    for operation, change in MISFITS:
        stated = OPERATIONS[operation][1]["requestBody"]["content"]["application/json"]["schema"]
        validator = jsonschema.Draft202012Validator({**stated, "components": STATED["components"]})
        assert validator.is_valid(FITTING[operation])
        assert not validator.is_valid({**FITTING[operation], **change}), (operation, change)
        answer = plane.post(operation, json.dumps({**FITTING[operation], **change}).encode())
        assert answer.json()["code"] in OF_FORM, (operation, change, answer.text)


@pytest.mark.parametrize("operation", ["report_incident", "submit_findings", "propose_write"])
def test_a_body_with_something_required_in_it_is_required(operation: str) -> None:
    assert OPERATIONS[operation][1]["requestBody"]["required"] is True


@pytest.mark.parametrize(("operation", "status"), openapi.NEXT)
def test_a_link_leads_where_it_says(plane: Plane, operation: str, status: str) -> None:
    following, given = openapi.NEXT[operation, status]
    first = plane.post(operation, json.dumps({**FITTING[operation], **plane.known(operation)}).encode())
    assert first.status_code == int(status), first.text
    path = {name.removeprefix("path."): pointed_at(first, to) for name, to in given.get("parameters", {}).items()}
    body = {name: pointed_at(first, to) for name, to in given.get("requestBody", {}).items()}
    method = next(way for way, about in STATED["paths"][OPERATIONS[following][0]].items() if "operationId" in about)
    headers = {"Authorization": f"Bearer {plane.world.agent_token}"}
    address = plane.url + OPERATIONS[following][0].format(**path)
    answer = plane.session.request(method, address, json={**FITTING.get(following, {}), **body}, headers=headers)
    assert answer.ok, answer.text


def pointed_at(answer: requests.Response, expression: str) -> Any:
    """What a runtime expression of OpenAPI, `$response.body#/NAME`, takes from an answer."""
    return answer.json()[expression.removeprefix("$response.body#/")]


def test_what_follows_from_an_answer_is_answered_too(plane: Plane, as_role: Callable[[str], None]) -> None:
    world = plane.world
    as_role("owner")
    before = {kind: list(kind.objects.values_list("pk", flat=True)) for kind in MADE}
    as_role("agents")

    # Nothing follows from what admission answers, and draws that go there lead nowhere.
    class Following(SCHEMA.exclude(path_regex="/admission/|/hooks/").as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            # Each row of calls begins in the same world, or the same draws would not lead to the same answers.
            as_role("owner")
            for kind in MADE:
                kind.objects.exclude(pk__in=before[kind]).delete()
            for changed in (world.running, world.running.incident, world.waiting):
                changed.save()
            as_role("agents")

        def before_call(self, case: Case) -> None:
            plane.aim(case)

        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            headers = {"Authorization": f"Bearer {plane.holders(case)[0]}"}
            return {"base_url": plane.url, "session": plane.session, "headers": headers}

    Following.run(settings=settings(DRAWN, max_examples=36, stateful_step_count=6, derandomize=True))
