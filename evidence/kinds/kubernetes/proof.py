"""The proof of a reader of a Kubernetes API: who it is, what the API server says it may, and what it denies it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.models import Definition
from evidence.bounds import Limits
from evidence.errors import Problem, Refused
from evidence.kinds.http import client, encoding, proving, site
from evidence.kinds.http.site import Site
from evidence.kinds.kubernetes import rights
from evidence.stating import Proven, Seen, Weight, excused, unreached

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/rolebindings"
MOST_BINDINGS = 5_000
LIMITS = Limits(bytes=20_000_000, seconds=10)  # of one question; the bindings of a whole cluster are long
Body = Mapping[str, Any]


def prove(source: Definition) -> Proven:
    """Both sides. A side that cannot be seen is a fact that does not hold."""
    reader, doctor = (site.of(source.name, source.body, key) for key in ("reader_env", "doctor_env"))
    try:
        accepted = source.body.get("accepts", ())
        facts = [excused(fact, accepted) for fact in _facts(reader, doctor, source.body)]
        return proving.proven(source, str(reader.origin), facts)
    except (Refused, Problem) as error:
        return unreached(client.said(reader, error.sentence))


def _facts(reader: Site, doctor: Site, body: Body) -> Iterator[Seen]:
    user, other = _user(reader), _user(doctor)
    name = str(other.get("username", ""))
    yield Seen("reader", "Whom the API server takes the reader for.", True, str(user.get("username")), "", Weight.NOTE)
    yield Seen(
        "another_doctor", "The doctor is another user than the reader.", name != user.get("username"),
        f"the doctor is {name}", "Give the doctor a service account of its own: manage.py reader_role prints it.",
    )  # fmt: skip
    yield rights.of_identity(user)
    bindings = _bindings(doctor)
    yield _bindings_seen(bindings)
    namespaces = sorted({*body["namespaces"], *rights.bound_in(bindings, user)} - {""}) or ["default"]
    reviews = {namespace: _rules(reader, namespace) for namespace in namespaces}
    yield from rights.of_rules(reviews, body["resources"])
    asked = ((act, place, _access(doctor, user, act, place)) for act, place in rights.questions(namespaces))
    yield rights.of_answers(asked)


def _user(place: Site) -> Body:
    found = _posted(place, WHO, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    status = found.get("status")
    user = status.get("userInfo") if isinstance(status, dict) else None
    if not isinstance(user, dict):
        raise Refused("unseen", "The API server does not say who signs in; Kubernetes 1.28 or newer does.")
    return user


def _rules(reader: Site, namespace: str) -> Any:
    asked = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview"}
    return _posted(reader, RULES, {**asked, "spec": {"namespace": namespace}}).get("status")


def _access(doctor: Site, user: Body, act: rights.Act, namespace: str) -> Any:
    """Whether the reader may. `user` is as the API server itself named it, with its groups and extra."""
    about = {"user": user.get("username"), "groups": user.get("groups"), "uid": user.get("uid"),
             "extra": user.get("extra")}  # fmt: skip
    spec = {**{key: value for key, value in about.items() if value}, "resourceAttributes": act.attributes(namespace)}
    asked = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    return _posted(doctor, ACCESS, asked).get("status")


def _posted(place: Site, target: str, body: Body) -> Body:
    """The answer to a review. It is said to be created, and nothing of it is kept: these kinds are never stored."""
    try:
        found = client.search(place, target, body, limits=LIMITS).value
    except client.Answered as answered:
        if answered.status != 201:
            raise
        found = answered.value
    if not isinstance(found, dict):
        raise Refused("not_json", f"{target} answered with something that is no object.")
    return found


def _bindings(doctor: Site) -> Any:
    """The role bindings of the cluster; None where the doctor does not see them."""
    try:
        found = client.get(doctor, f"{BINDINGS}{encoding.query([('limit', MOST_BINDINGS)])}", limits=LIMITS).value
    except client.Answered as answered:
        if answered.status != 403:
            raise
        return None
    return found


def _bindings_seen(bindings: Any) -> Seen:
    told = bindings.get("metadata") if isinstance(bindings, dict) else None
    is_whole = isinstance(told, dict) and not told.get("continue") and isinstance(bindings.get("items"), list)
    return Seen(
        "bindings_seen", "The doctor sees all role bindings, so that no right in another namespace is missed.",
        is_whole, "all of them" if is_whole else "not all of them",
        "" if is_whole else "Let the doctor list rolebindings: manage.py reader_role prints how.", Weight.LAYER,
    )  # fmt: skip
