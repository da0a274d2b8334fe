"""What a tool of the kubectl family was asked for. The tools spell their arguments differently and mean the same."""

from __future__ import annotations

from gate.triage.grammars import spellings
from gate.triage.readers.document import Document, Unreadable

KIND = ("kind", "resource", "resource_type", "resourceType")
NAME = ("name", "resource_name", "resourceName", "keyword")
NAMESPACE = ("namespace", "ns")
EVERYWHERE = ("all_namespaces", "allNamespaces")
FIELDS = ("field_selector", "fieldSelector")
LABELS = ("label_selector", "labelSelector", "selector")
SELECTORS = (*FIELDS, *LABELS)
OUTPUT = ("output", "output_format", "format")
LIMIT = ("limit",)
VERSION = ("apiVersion", "api_version")
SORT = ("sortBy", "sort_by")  # the order of a list, and no more
KNOWN = frozenset((*KIND, *NAME, *NAMESPACE, *EVERYWHERE, *FIELDS, *LABELS, *OUTPUT, *LIMIT, *VERSION, *SORT))
OUTPUTS = ("json", "yaml", "wide")


class KubeArgs:
    """The arguments of one call, by what they mean."""

    def __init__(self, args: Document) -> None:
        self.args = args

    def has_kind(self) -> bool:
        """Whether a kind was asked for at all."""
        return self._used(KIND) != ()

    def kind(self) -> str:
        """The kind that was asked for, as it was spelled."""
        return self._text(KIND)

    def has_name(self) -> bool:
        """Whether one name was asked for."""
        return self._used(NAME) != ()

    def name(self) -> str:
        """The name that was asked for."""
        return self._text(NAME)

    def has_namespace(self) -> bool:
        """Whether one namespace was asked for."""
        return self._used(NAMESPACE) != ()

    def namespace(self) -> str:
        """The namespace that was asked for."""
        return self._text(NAMESPACE)

    def is_everywhere(self) -> bool:
        """Whether all namespaces were asked for."""
        if self._used(EVERYWHERE) == ():
            return False
        return self.args.flag(self._one(EVERYWHERE)) is True

    def has_fields(self) -> bool:
        """Whether a field selector was given."""
        return self._used(FIELDS) != ()

    def fields(self) -> str:
        """The field selector."""
        return self._text(FIELDS)

    def has_labels(self) -> bool:
        """Whether a label selector was given."""
        return self._used(LABELS) != ()

    def labels(self) -> str:
        """The label selector."""
        return self._text(LABELS)

    def check_output(self) -> None:
        """Raises Unreadable where another form was asked for than the whole object."""
        if self._used(OUTPUT) != ():
            self.args.one_of(OUTPUTS, self._one(OUTPUT))

    def check_version(self, known: tuple[str, ...]) -> None:
        """Raises Unreadable where another version of the API was asked for than those whose fields are known."""
        if self._used(VERSION) != ():
            self.args.one_of(known, self._one(VERSION))

    def is_part_of(self, name: str) -> bool:
        """Whether a part of this name was asked for: all that have it in them, which leaves none of them out."""
        if self._used(NAME) != ("keyword",):
            return False
        return spellings.is_part_of(self.args.text("keyword"), name)

    def check_limit(self, listed: int) -> None:
        """Raises Unreadable where the answer is as long as it was allowed to be: nobody knows what was cut off."""
        if self._used(LIMIT) != () and self.args.integer("limit") <= listed:
            raise Unreadable("/limit", f"the answer is as long as its limit of {listed}.", "at its limit")

    def _used(self, spellings: tuple[str, ...]) -> tuple[str, ...]:
        given = [key for key in spellings if key in frozenset(self.args.keys())]
        # An argument that is null was not given, nor a selector that is empty: many tools write out all they have.
        return tuple(key for key in given if (self.args.is_null(key), self._is_empty(key)) == (False, False))

    def _is_empty(self, key: str) -> bool:
        return self.args.text_or_null(key) == "" if key in SELECTORS else False

    def _one(self, spellings: tuple[str, ...]) -> str:
        used = self._used(spellings)
        if len(used) != 1:
            why = f"it was not asked by exactly one of {', '.join(spellings)}."
            raise Unreadable("", why, f"{len(used)} of them")
        return used[0]

    def _text(self, spellings: tuple[str, ...]) -> str:
        return self.args.text(self._one(spellings))
