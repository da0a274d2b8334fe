"""What makes the strongest reader of a cluster, as YAML for kubectl: accounts, roles that read, and their bindings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from audit.models import Definition
from evidence.kinds.kubernetes import resources

Rule = tuple[str, str, str]  # the group of a resource, its name, and the verbs
# What the doctor's side of the proof asks for.
REVIEWS = (("authorization.k8s.io", "subjectaccessreviews", "create"),
           ("rbac.authorization.k8s.io", "rolebindings", "list"))  # fmt: skip


def script(source: Definition) -> Iterator[str]:
    """The lines of YAML with the roles, bindings and service accounts of the reader and the doctor."""
    body = source.body
    inside, around = _split(body["resources"])
    yield f"# The strongest reader of {source.name}. Read it, then apply it: kubectl apply -f -"
    yield "# It has no secrets, no subresource but pods/log, and no verb but get and list."
    yield from _account("reader")
    everywhere = body.get("everywhere") is True
    yield from _role("counterseal-reader", [*inside, *(around if everywhere else [])])
    for namespace in [""] if everywhere else body["namespaces"]:
        yield from _binding("counterseal-reader", "counterseal-reader", "reader", namespace)
    if around and not everywhere:
        yield from _role("counterseal-reader-cluster", around)
        yield from _binding("counterseal-reader-cluster", "counterseal-reader-cluster", "reader", "")
    yield from _account("doctor")
    yield from _role("counterseal-doctor", REVIEWS)
    yield from _binding("counterseal-doctor", "counterseal-doctor", "doctor", "")
    yield "# The tokens: kubectl -n counterseal create token reader --duration=24h, and the same for doctor."


def _split(exposed: Iterable[str]) -> tuple[list[Rule], list[Rule]]:
    """What lies in namespaces, and what lies around them."""
    inside: list[Rule] = []
    around: list[Rule] = []
    for name in sorted(exposed):
        resource = resources.RESOURCES.get(name)
        if resource is None:
            inside.append(("", name, "get"))
        else:
            (inside if resource.is_namespaced else around).append((resource.group, name, "get list"))
    return inside, around


def _account(name: str) -> Iterator[str]:
    yield "---"
    yield f"apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}, namespace: counterseal}}"
    yield "automountServiceAccountToken: false"


def _role(name: str, rules: Iterable[Rule]) -> Iterator[str]:
    yield "---"
    yield f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: {name}}}\nrules:"
    for group, resource, verbs in rules:
        yield f'- {{apiGroups: ["{group}"], resources: ["{resource}"], verbs: [{", ".join(verbs.split())}]}}'


def _binding(name: str, role: str, account: str, namespace: str) -> Iterator[str]:
    kind, place = ("RoleBinding", f", namespace: {namespace}") if namespace else ("ClusterRoleBinding", "")
    yield "---"
    yield f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}{place}}}"
    yield f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}"
    yield f"subjects: [{{kind: ServiceAccount, name: {account}, namespace: counterseal}}]"
