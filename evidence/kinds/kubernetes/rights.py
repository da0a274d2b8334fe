"""What a user of a Kubernetes API may do, read from what the API server itself says of it. Pure.

Two sides: the rules that it lists for the reader (SelfSubjectRulesReview), of which each must be known to be a read,
and its answer to each forbidden act by name (SubjectAccessReview), which the doctor asks. A `get` of pods/exec, attach,
portforward and of every proxy counts as a write: it opens a connection that carries anything.
Sources: the authorization.k8s.io/v1 API, and the good practices for RBAC of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evidence.kinds.kubernetes.resources import RESOURCES
from evidence.stating import Seen, Weight

READS = frozenset(("get", "list", "watch"))
# Everybody may ask about themselves: each of these writes nothing down.
OF_ITSELF = frozenset((
    ("authorization.k8s.io", "selfsubjectaccessreviews"), ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authentication.k8s.io", "selfsubjectreviews"),
))  # fmt: skip
# A `get` of these opens a way in, or gives away what opens one.
OPENING = ("attach", "exec", "portforward", "proxy", "ephemeralcontainers", "token")
PATHS = (
    "/api",
    "/apis",
    "/healthz",
    "/livez",
    "/readyz",
    "/openapi",
    "/version",
    "/.well-known",
    "/openid",
    "/swagger",
)
WRITING = ("create", "update", "patch", "delete", "deletecollection")
ROLE = "Give the reader the rights that manage.py reader_role prints, and no other binding."
ACCEPTABLE = frozenset(("rules_whole", "bindings_seen", "resources", "paths"))


@dataclass(frozen=True)
class Act:
    """One forbidden act: a verb on a resource of a group, and a subresource of it."""

    verb: str
    resource: str
    group: str = ""
    subresource: str = ""
    is_namespaced: bool = True

    def attributes(self, namespace: str) -> dict[str, str]:
        """As a SubjectAccessReview asks for it; an empty namespace means all of them, or none."""
        said = {"verb": self.verb, "group": self.group, "resource": self.resource, "subresource": self.subresource,
                "namespace": namespace}  # fmt: skip
        return {key: value for key, value in said.items() if value}

    def __str__(self) -> str:
        group = f".{self.group}" if self.group else ""
        return f"{self.verb} {self.resource}{group}{f'/{self.subresource}' if self.subresource else ''}"


FORBIDDEN = (
    Act("*", "*", "*"),
    *(Act(verb, "pods") for verb in WRITING),
    *(Act(verb, "deployments", "apps") for verb in ("create", "patch", "delete")),
    Act("update", "deployments", "apps", "scale"),
    *(Act("create", resource, "batch") for resource in ("jobs", "cronjobs")),
    *(Act(verb, "secrets") for verb in ("get", "list", "create")),
    *(Act(verb, "pods", subresource=part) for part in ("exec", "attach", "portforward") for verb in ("get", "create")),
    *(Act(verb, resource, subresource="proxy") for resource in ("pods", "services") for verb in ("get", "create")),
    Act("create", "pods", subresource="eviction"),
    Act("patch", "pods", subresource="ephemeralcontainers"),
    Act("create", "serviceaccounts", subresource="token"),
    Act("create", "rolebindings", "rbac.authorization.k8s.io"),
    Act("escalate", "roles", "rbac.authorization.k8s.io"),
    Act("bind", "roles", "rbac.authorization.k8s.io"),
    Act("impersonate", "serviceaccounts"),
    *(Act("impersonate", resource, is_namespaced=False) for resource in ("users", "groups")),
    *(Act(verb, "nodes", subresource="proxy", is_namespaced=False) for verb in ("get", "create")),
    Act("patch", "nodes", is_namespaced=False),
    Act("delete", "namespaces", is_namespaced=False),
    *(Act(verb, "clusterroles", "rbac.authorization.k8s.io", is_namespaced=False) for verb in ("escalate", "bind")),
    Act("create", "clusterrolebindings", "rbac.authorization.k8s.io", is_namespaced=False),
    Act("create", "certificatesigningrequests", "certificates.k8s.io", is_namespaced=False),
    Act("create", "mutatingwebhookconfigurations", "admissionregistration.k8s.io", is_namespaced=False),
)  # fmt: skip


def questions(namespaces: Iterable[str]) -> Iterator[tuple[Act, str]]:
    """Each forbidden act, everywhere and in each namespace by itself: a right in one is none everywhere."""
    listed = list(namespaces)
    for act in FORBIDDEN:
        yield act, ""
        yield from ((act, namespace) for namespace in listed if act.is_namespaced)


def of_answers(answers: Iterable[tuple[Act, str, Any]]) -> Seen:
    """The fact about the answers to the questions. One that is no plain no counts as a yes."""
    asked, granted = 0, []
    for act, namespace, status in answers:
        asked += 1
        is_denied = isinstance(status, dict) and status.get("allowed") is False and not status.get("evaluationError")
        if not is_denied:
            granted.append(f"{act}{f' in {namespace}' if namespace else ''}")
    sentence = "The API server denies it each forbidden act by name."
    return _seen("tries", sentence, granted if asked else ["nothing was asked"], shown=f"{asked} acts denied")


def of_rules(reviews: Mapping[str, Any], exposed: Collection[str]) -> list[Seen]:
    """The facts about the rules that the API server lists for the reader, by namespace."""
    rules = [rule for status in reviews.values() for rule in _listed(status, "resourceRules")]
    paths = [rule for status in reviews.values() for rule in _listed(status, "nonResourceRules")]
    cut = sorted(namespace for namespace, status in reviews.items() if not _is_whole(status))
    granted = [grant for rule in rules for grant in _grants(rule)]
    return [
        _seen("rules_whole", "The API server can list all of its rules.", cut or ([] if reviews else ["none"]),
              Weight.LAYER),
        _seen("verbs", "It may do nothing but get, list and watch.", _writing(granted) + _writing_paths(paths)),
        _seen("secrets", "It reads no secrets.", _of_secrets(granted)),
        _seen("opening", "It gets nothing that opens a way in: exec, attach, portforward, a proxy, a token.",
              _opening(granted)),
        _seen("resources", "It reads what the source exposes, and nothing else.", _others(granted, exposed),
              Weight.LAYER),
        _seen("paths", "Besides resources it gets what describes the API, and nothing else.", _other_paths(paths),
              Weight.LAYER),
    ]  # fmt: skip


def of_identity(user: Mapping[str, Any]) -> Seen:
    """The fact that it is somebody, and not of the group that every check lets through."""
    groups = [str(group) for group in _listed(user, "groups")]
    name = str(user.get("username", ""))
    wrong = [group for group in groups if group in ("system:masters", "system:unauthenticated")]
    wrong += [name or "nobody"] if name in ("", "system:anonymous") else []
    return _seen("signed_in", "It signs in, and not as one whom every check lets through.", wrong, shown=name)


def bound_in(bindings: Any, user: Mapping[str, Any]) -> set[str]:
    """The namespaces of the role bindings that name the user, its service account, or one of its groups."""
    listed = [binding for binding in _listed(bindings, "items") if isinstance(binding, dict)]
    found = [one for one in listed if any(_is_subject(subject, user) for subject in _listed(one, "subjects"))]
    places = [one.get("metadata") for one in found]
    return {str(place.get("namespace", "")) for place in places if isinstance(place, dict)}


def _is_subject(subject: Any, user: Mapping[str, Any]) -> bool:
    name, groups = user.get("username"), _listed(user, "groups")
    if not isinstance(subject, dict):
        return True  # what cannot be read might name it
    if subject.get("kind") == "ServiceAccount":
        return name == f"system:serviceaccount:{subject.get('namespace')}:{subject.get('name')}"
    return subject.get("name") == name if subject.get("kind") == "User" else subject.get("name") in groups


def _seen(name: str, sentence: str, contrary: Sequence[str], weight: Weight = Weight.WALL, shown: str = "") -> Seen:
    listed = sorted(set(contrary))
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    seen = f"{', '.join(listed[:5])}{more}" if listed else shown or "nothing contrary"
    return Seen(name, sentence, not listed, seen, ROLE if listed else "", weight)


def _listed(found: Any, key: str) -> list[Any]:
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, list) else []


def _is_whole(status: Any) -> bool:
    if not isinstance(status, dict) or status.get("incomplete") is not False or status.get("evaluationError"):
        return False
    # No rules at all are written as null.
    return all(isinstance(status.get(key), list | None) for key in ("resourceRules", "nonResourceRules"))


@dataclass(frozen=True)
class _Grant:
    verb: str
    group: str
    resource: str
    subresource: str

    def __str__(self) -> str:
        group = f".{self.group}" if self.group else ""
        return f"{self.verb} {self.resource}{group}{f'/{self.subresource}' if self.subresource else ''}"


def _grants(rule: Any) -> Iterator[_Grant]:
    """One grant for each verb, group and resource. What a rule does not say, or not readably, is all that there is."""
    for verb in _said(rule, "verbs"):
        for group in _said(rule, "apiGroups") or ["*"]:
            for named in _said(rule, "resources") or ["*"]:
                resource, _, subresource = named.partition("/")
                yield _Grant(verb, group, resource, subresource)


def _said(rule: Any, key: str) -> list[str]:
    found = rule.get(key) if isinstance(rule, dict) else None
    return [str(item) for item in found] if isinstance(found, list) else ["*"]


def _writing(granted: Iterable[_Grant]) -> list[str]:
    return [
        str(one)
        for one in granted
        if one.verb not in READS and not (one.verb == "create" and (one.group, one.resource) in OF_ITSELF)
    ]


def _writing_paths(rules: Iterable[Any]) -> list[str]:
    return [
        f"{verb} {path}"
        for rule in rules
        for verb in _said(rule, "verbs")
        if verb not in ("get", "head")
        for path in _said(rule, "nonResourceURLs")
    ]


def _of_secrets(granted: Iterable[_Grant]) -> list[str]:
    found = [one for one in granted if one.resource == "secrets" or (one.resource == "*" and not one.subresource)]
    return [str(one) for one in found if one.group in ("", "*")]


def _opening(granted: Iterable[_Grant]) -> list[str]:
    """Subresources by name, by a star, or all that there are: the resource `*` covers every subresource."""
    return [
        str(one)
        for one in granted
        if one.subresource in (*OPENING, "*") or (one.resource == "*" and not one.subresource)
    ]


def _others(granted: Iterable[_Grant], exposed: Collection[str]) -> list[str]:
    allowed = {(RESOURCES[name].group, name, "") for name in exposed if name in RESOURCES}
    allowed |= {("", *name.split("/")) for name in exposed if "/" in name}  # type: ignore[misc]  # one slash: pods/log
    reading = [one for one in granted if one.verb in READS]
    return [str(one) for one in reading if (one.group, one.resource, one.subresource) not in allowed]


def _other_paths(rules: Iterable[Any]) -> list[str]:
    paths = [path for rule in rules for path in _said(rule, "nonResourceURLs")]
    return [path for path in paths if not any(_is_under(path, known) for known in PATHS)]


def _is_under(path: str, known: str) -> bool:
    return path in (known, f"{known}*", f"{known}/") or path.startswith((f"{known}/", f"{known}-"))
