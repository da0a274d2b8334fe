"""The proof of a reader of Elasticsearch or OpenSearch: who it is, by its own word and the doctor's, and its rights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.models import Definition
from evidence.errors import Problem, Refused
from evidence.kinds.elasticsearch import privileges
from evidence.kinds.http import client, encoding, proving, site
from evidence.kinds.http.site import Site
from evidence.stating import Proven, Seen, Weight, excused, unreached

ELASTICSEARCH, OPENSEARCH = "elasticsearch", "opensearch"
WHO = {ELASTICSEARCH: "/_security/_authenticate", OPENSEARCH: "/_plugins/_security/authinfo"}
OWN_RIGHTS = "/_security/user/_privileges"
HAS_RIGHTS = "/_security/user/_has_privileges"
KEYS = "/_security/api_key"
ROLES = "/_plugins/_security/api/roles/"
API_KEY = "api_key"


def prove(source: Definition) -> Proven:
    """Both sides. A side that cannot be seen is a fact that does not hold."""
    body = source.body
    reader, doctor = (site.of(source.name, body, key) for key in ("reader_env", "doctor_env"))
    try:
        who, other = _got(reader, WHO[body["flavor"]]), _got(doctor, WHO[body["flavor"]])
        look = _elasticsearch if body["flavor"] == ELASTICSEARCH else _opensearch
        found = [_reader(who), _another(who, other), *look(reader, doctor, who, body)]
        facts = [excused(fact, body.get("accepts", ())) for fact in found]
        return proving.proven(source, body["flavor"], facts)
    except (Refused, Problem) as error:
        return unreached(client.said(reader, _words(error)))


def name(who: Mapping[str, Any]) -> str:
    """Who a credential is, as the server says: the user, or the API key."""
    key = who.get("api_key")
    if isinstance(key, dict):
        return f"API key {key.get('name', key.get('id'))}"
    return str(who.get("username", who.get("user_name", "unknown")))


def _words(error: Refused | Problem) -> str:
    is_open = isinstance(error, client.Answered) and error.status in (400, 404, 405, 500)
    more = " Without its security features everybody may write there: switch them on." if is_open else ""
    return f"{error.sentence}{more}"


def _got(place: Site, target: str) -> dict[str, Any]:
    found = client.get(place, target).value
    if not isinstance(found, dict):
        raise Refused("not_json", f"{target} answered with something that is no object.")
    return found


def _reader(who: Mapping[str, Any]) -> Seen:
    return Seen("reader", "Whom the server takes the reader for.", True, name(who), "", Weight.NOTE)


def _another(who: Mapping[str, Any], other: Mapping[str, Any]) -> Seen:
    doctor = name(other)
    return Seen(
        "another_doctor", "The doctor is another user than the reader.", name(who) != doctor, f"the doctor is {doctor}",
        "Give the doctor a credential of its own.",
    )  # fmt: skip


def _elasticsearch(reader: Site, doctor: Site, who: Mapping[str, Any], body: Mapping[str, Any]) -> list[Seen]:
    kind = str(who.get("authentication_type", ""))
    known = Seen(
        "signed_in", "It signs in, and not as everybody.", kind not in ("", "anonymous"), kind or "unknown",
        "Switch anonymous access off, and give the reader an API key.",
    )  # fmt: skip
    grants = _of_key(doctor, who) if kind == API_KEY else [_of_user(reader)]
    answer = client.search(reader, HAS_RIGHTS, privileges.question(body["indexes"])).value
    tried = privileges.of_answer(answer if isinstance(answer, dict) else {})
    return [known, *privileges.of_elasticsearch(grants, body["indexes"]), tried]


def _of_user(reader: Site) -> dict[str, Any]:
    """The rights of a user, who can ask for its own. Raises Refused for an answer that does not say all of them."""
    found = _got(reader, OWN_RIGHTS)
    missing = sorted({"cluster", "indices", "applications", "run_as"} - set(found))
    if missing:
        raise Refused("unseen", f"The server does not say the reader's privileges: {missing[0]} is missing.")
    return found


def _of_key(doctor: Site, who: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The grants of an API key, which cannot ask for its own. Raises Refused where the doctor does not see the key."""
    key = who.get("api_key")
    number = key.get("id", "") if isinstance(key, dict) else ""
    asked = encoding.query([("id", str(number)), ("with_limited_by", True)])
    keys = _got(doctor, f"{KEYS}{asked}").get("api_keys")
    if not isinstance(keys, list) or len(keys) != 1:
        raise Refused("unseen", "The doctor does not see the reader's API key; it needs the privilege read_security.")
    return list(privileges.narrowed(keys[0]))


def _opensearch(reader: Site, doctor: Site, who: Mapping[str, Any], body: Mapping[str, Any]) -> list[Seen]:
    roles: dict[str, Any] = {}
    named = who.get("roles")
    for role in named if isinstance(named, list) else []:
        # What the answer leaves out is a role that cannot be seen.
        roles[str(role)] = _got(doctor, f"{ROLES}{encoding.segment(role)}").get(str(role))
    return privileges.of_opensearch(roles, body["indexes"])
