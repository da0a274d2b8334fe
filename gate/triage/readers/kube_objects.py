"""One object of the Kubernetes API, as kubectl gives it: by itself, or as the item of a list that bears its name."""

from __future__ import annotations

from dataclasses import dataclass

from gate.triage.cases import RecordedCall
from gate.triage.readers.document import Answer, Step, Unreadable
from gate.triage.readers.kube_args import KubeArgs

STATUSES = ("True", "False", "Unknown")
LIST_VERSIONS = ("v1",)
# What a list says when there is more of it than it holds.
INCOMPLETE = ("continue", "remainingItemCount")


@dataclass(frozen=True)
class Kind:
    """What a kind of object is called: by the API, and by those who ask for it."""

    name: str
    api_versions: tuple[str, ...]
    asked_as: tuple[str, ...]
    is_namespaced: bool


class KubeObject(Answer):
    """An answer that holds one object of one kind. What Kubernetes leaves out when it is zero is unreadable here."""

    tools = ("kubectl_get", "kubectl_find_resource")
    kind: Kind

    def __init__(self, call: RecordedCall) -> None:
        super().__init__(call)
        self.asked = KubeArgs(self.args)

    def is_list(self) -> bool:
        """Whether the answer is a list of objects. Of another kind than this one it is unreadable."""
        kinds = (self.kind.name, f"{self.kind.name}List", "List")
        return self.result.one_of(kinds, "kind") != self.kind.name

    def is_typed_list(self) -> bool:
        """Whether it is a JobList or the like, whose items do not repeat what they are."""
        return self.result.text("kind") == f"{self.kind.name}List"

    def complete(self) -> bool:
        """True. Raises Unreadable where the list says that there is more of it."""
        if self.is_list():
            versions = self.kind.api_versions if self.is_typed_list() else LIST_VERSIONS
            self.result.one_of(versions, "apiVersion")
            check_list_is_whole(self)
        return True

    def place(self, namespace: str | None, name: str) -> tuple[Step, ...]:
        """Where the object of that name stands. Raises Unreadable unless it stands there exactly once."""
        if not self.is_list():
            return ()
        places = [("items", i) for i in range(self.result.length("items")) if self.is_named(i, namespace, name)]
        if len(places) != 1:
            why = f"the list holds {self.kind.name} `{name}` {len(places)} times, not once."
            raise Unreadable("/items", why, f"{len(places)} of that name")
        return places[0]

    def is_named(self, index: int, namespace: str | None, name: str) -> bool:
        """Whether an item of the list bears that name, in that namespace."""
        at = ("items", index, "metadata")
        if self.result.text(*at, "name") != name:
            return False
        if namespace is None:
            return True
        return self.result.text(*at, "namespace") == namespace

    def object_kind(self, place: tuple[Step, ...]) -> str:
        """The object's kind. The items of a JobList do not repeat it, those of a List do."""
        if self.is_typed_list() and not self.result.has(*place, "kind"):
            return self.kind.name
        return self.result.text(*place, "kind")

    def api_version(self, place: tuple[Step, ...]) -> str:
        """The version of the API that its fields have, out of those that are known."""
        if self.is_typed_list() and not self.result.has(*place, "apiVersion"):
            return self.result.one_of(self.kind.api_versions, "apiVersion")
        return self.result.one_of(self.kind.api_versions, *place, "apiVersion")

    def name(self, place: tuple[Step, ...]) -> str:
        """Its name."""
        return self.result.text(*place, "metadata", "name")

    def namespace(self, place: tuple[Step, ...]) -> str:
        """Its namespace."""
        return self.result.text(*place, "metadata", "namespace")

    def uid(self, place: tuple[Step, ...]) -> str:
        """What tells it from an earlier object of the same name."""
        return self.result.text(*place, "metadata", "uid")

    def is_being_deleted(self, place: tuple[Step, ...]) -> bool:
        """Whether somebody has deleted it and it is only waiting to be gone."""
        return self.result.has(*place, "metadata", "deletionTimestamp")

    def condition_types(self, place: tuple[Step, ...]) -> tuple[str, ...]:
        """The types of its conditions, each as often as it stands there."""
        at = (*place, "status", "conditions")
        return tuple(self.result.text(*at, i, "type") for i in range(self.result.length(*at)))

    def known_types(self, place: tuple[Step, ...], known: tuple[str, ...]) -> tuple[str, ...]:
        """The same, each out of a closed list: a condition that nobody listed is one that nobody thought about."""
        at = (*place, "status", "conditions")
        return tuple(self.result.one_of(known, *at, i, "type") for i in range(self.result.length(*at)))

    def has_condition(self, place: tuple[Step, ...], wanted: str) -> bool:
        """Whether it has a condition of that type. Raises Unreadable where it has several."""
        count = self.condition_types(place).count(wanted)
        if count > 1:
            raise Unreadable("", f"the condition `{wanted}` stands there {count} times.", f"{count} times")
        return count == 1

    def status_of(self, place: tuple[Step, ...], wanted: str) -> str:
        """The status of its one condition of that type: "True", "False" or "Unknown", which are texts."""
        return self.result.one_of(STATUSES, *self.condition(place, wanted), "status")

    def reason_of(self, place: tuple[Step, ...], wanted: str) -> str:
        """The reason of its one condition of that type."""
        return self.result.text(*self.condition(place, wanted), "reason")

    def condition(self, place: tuple[Step, ...], wanted: str) -> tuple[Step, ...]:
        """Where its one condition of that type stands. Raises Unreadable."""
        if not self.has_condition(place, wanted):
            raise Unreadable("", f"there is no condition `{wanted}`.", "not in the result")
        types = self.condition_types(place)
        places = [number for number in range(len(types)) if types[number] == wanted]
        return (*place, "status", "conditions", places[0])


def check_list_is_whole(answer: Answer) -> None:
    """Raises Unreadable where a list of the Kubernetes API says that it was cut. `continue` is "" when it was not."""
    for marker in INCOMPLETE:
        if not answer.result.has("metadata", marker):
            continue
        if marker == "continue" and answer.result.text("metadata", marker) == "":
            continue
        if marker == "remainingItemCount" and answer.result.integer("metadata", marker) == 0:
            continue
        raise Unreadable(f"/metadata/{marker}", f"`metadata.{marker}` says that the list goes on.", "a cut list")
