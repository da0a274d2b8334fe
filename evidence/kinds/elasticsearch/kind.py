"""Elasticsearch and OpenSearch as a kind of source: searches, counts and ES|QL over the indexes that it exposes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from audit.models import Definition
from evidence import credentials
from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds import bound, saying
from evidence.kinds.elasticsearch import asking, indexes, privileges, proof, role
from evidence.kinds.elasticsearch.completeness import CODES, ESQL, incomplete
from evidence.kinds.fields import CLOSED_SITE, QUERY, Field, Sort, accepts
from evidence.kinds.http import client, proving, site
from evidence.kinds.kind import Found, request_of
from evidence.layers import Attack
from evidence.stating import Proven

if TYPE_CHECKING:
    from evidence.contracts import Contract

ENDPOINTS = "the three fixed endpoints, all of them reads"
CLAUSES = "the closed list of clauses and commands"
NAMES = "the list of indexes that the source exposes"
FLAVORS = (proof.ELASTICSEARCH, proof.OPENSEARCH)
OWN = {"flavor", "indexes", "query"}


class Elasticsearch:
    """Elasticsearch 8 or newer, and OpenSearch 2 or newer with its security plugin."""

    name = "elasticsearch"
    title = "Elasticsearch 8 or newer, OpenSearch 2 or newer"
    fields = (
        Field("flavor", "Server", sort=Sort.CHOICE, choices=tuple((one, one) for one in FLAVORS), is_needed=True),
        *CLOSED_SITE,
        Field("indexes", "Indexes that tools may read, one a line", "Names, or patterns like logs-shop-*.", Sort.LINES,
              is_needed=True),
        QUERY, accepts(privileges.ACCEPTABLE),
    )  # fmt: skip
    attacks = (
        Attack("Changing documents, indexes, templates and pipelines", ("cluster_writes", "index_writes"), ENDPOINTS),
        Attack("Making itself another: users, roles, API keys, run_as", ("cluster_writes", "run_as"), ENDPOINTS),
        Attack("Reading other indexes of the cluster", ("indexes",), NAMES),
        Attack("Reading indexes of the system", ("system_indexes",), NAMES),
        Attack("Other clusters", ("remote",), NAMES),
        Attack("Saved objects and actions of Kibana or the dashboards", ("applications",), ENDPOINTS),
        Attack("Scripts, stored ones and runtime fields", (), CLAUSES),
        Attack("Values looked up in other documents", (), CLAUSES),
        Attack("Searches left open on the server: scroll, point in time, async", (), CLAUSES),
        Attack("Regular expressions and deep nesting that cost without end", (), CLAUSES),
        *proving.ATTACKS,
    )
    codes: Mapping[str, str] = CODES
    source_example: Mapping[str, Any] = {
        "kind": "elasticsearch",
        "flavor": "elasticsearch",
        "url": "https://search.example.com",
        "reader_env": "MYLOGS_READER_TOKEN",
        "doctor_env": "MYLOGS_DOCTOR_TOKEN",
        "credential": "header Authorization",
        "environment": "production",
        "indexes": ["logs-myapp-*"],
    }
    tool_example: Mapping[str, Any] = {
        "request": {
            "endpoint": "_search",
            "index": "logs-myapp-*",
            "body": {"size": 0, "query": {"term": {"job_id": {"argument": "job_id"}}}},
        }
    }

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes such a server and what of it is exposed."""
        site.check(body, privileges.ACCEPTABLE, optional=OWN)
        if body.get("flavor") not in FLAVORS:
            raise ValueError(f"flavor is {' or '.join(FLAVORS)}.")
        if not {"reader_env", "doctor_env"} <= set(body):
            raise ValueError("A source of this kind has a reader_env and a doctor_env; one without is open to all.")
        credentials.check_two(body)
        indexes.check(body.get("indexes"))
        saying.check_query(body)

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body's request can become nothing but a read."""
        asking.check(bound.request(body), body)

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The reader's and the doctor's variables."""
        return proving.credentials(source)

    def address(self, source: Definition) -> str:
        """Where the reader's credential leads, and as whom. Raises Problem when it is unset."""
        return proving.address(source)

    def prove(self, source: Definition) -> Proven:
        """Both sides of the proof: see proof."""
        return proof.prove(source)

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One search. Raises Refused, or Problem for a credential that is not set."""
        request = request_of(contract)
        if request["endpoint"] == ESQL and source.body["flavor"] != proof.ELASTICSEARCH:
            raise Refused("wrong_kind", "OpenSearch has no ES|QL; draft the tool anew.")
        asked, place = asking.compose(request, source.body, given, limits), site.of(source.name, source.body)
        try:
            answer = client.search(place, asked.target, asked.body, limits=limits).value
        except client.Answered as answered:
            raise _told(place, answered) from answered
        if not isinstance(answer, dict):
            raise Refused("wrong_shape", "The answer is no object.")
        return Found(answer, False, incomplete(asked.about, answer))

    def strongest_reader(self, source: Definition) -> list[str]:
        """The role that reads the exposed indexes and nothing else, and a key that has no more."""
        return list(role.script(source))


def _told(place: site.Site, answered: client.Answered) -> Refused:
    """The server's own reason: a mistake in a query is said in it, and nowhere else."""
    error = answered.value.get("error") if isinstance(answered.value, dict) else None
    causes = error.get("root_cause") if isinstance(error, dict) else None
    cause = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], dict) else error
    reason = cause.get("reason", "") if isinstance(cause, dict) else cause or ""
    code = "parameters" if answered.status == 400 else answered.code
    return Refused(code, f"{answered.sentence.rstrip('.')}: {client.said(place, reason)}".rstrip(": "))
