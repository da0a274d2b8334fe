"""A tool's contract as people write it: a field for each thing that it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms

from audit.definition_forms import LinesField, ObjectField, VersionForm
from audit.models import Definition
from evidence import arguments, contract_lint, contracts, json_places, kinds, sources
from evidence.kinds import sql_tools
from evidence.wording.flaws import Flaw

FIXED = {"read_only": True, "returns_action_recommendations": False}  # what every tool declares
TEXTS = ("purpose", "sql")
OBJECTS = ("input_schema", "output_schema", "request")
LINES = ("limitations", "parameters")
SCHEMAS = ("input_schema", "output_schema")


def source_names() -> list[tuple[str, str]]:
    """The sources that a tool may name: those in force, and those that are drafted."""
    found = Definition.objects.filter(kind="source").order_by("name").values_list("name", flat=True).distinct()
    return [("", "Choose a source"), *((name, name) for name in found)]


def asks_by_request(source: Definition) -> bool:
    """Whether tools of this source are written as a request; else they are a statement."""
    return "request" in kinds.of(source).tool_example


class TextField(forms.CharField):
    """A text of several lines, with the line breaks that it was written with: browsers send others."""

    def clean(self, value: Any) -> Any:
        """The text. Raises ValidationError when it may not be left out."""
        return super().clean(value).replace("\r\n", "\n")


class ToolForm(VersionForm):
    """One version of a tool."""

    purpose = forms.CharField(max_length=contracts.LONGEST_PURPOSE)
    source = forms.ChoiceField(choices=source_names)
    query_type = forms.ChoiceField(choices=[(word, word) for word in contracts.QUERY_TYPES])
    visibility_scope = forms.ChoiceField(choices=[*contracts.VISIBILITY_SCOPES.items()])
    input_schema = ObjectField()
    output_schema = ObjectField()
    limitations = LinesField(required=False)
    sql = TextField(required=False, strip=False)
    parameters = LinesField(required=False)
    shape = forms.ChoiceField(
        required=False, choices=[("", "None: it is a request"), *((word, word) for word in sql_tools.SHAPES)]
    )
    request = ObjectField(required=False)
    max_rows = forms.IntegerField(required=False, min_value=1)
    max_bytes = forms.IntegerField(required=False, min_value=1)

    def clean(self) -> dict[str, Any]:
        """What goes together: schemas that are some, and a statement or a request as the source's kind reads."""
        said = self.cleaned_data
        for key in SCHEMAS:
            flaw = arguments.flaw(said[key]) if key in said else ""
            if flaw:
                self.add_error(key, f"This is no usable JSON Schema: {flaw}")
        if "source" in said and "request" in said:
            self._check_reading(said)
        return said

    def _check_reading(self, said: dict[str, Any]) -> None:
        source = sources.known(said["source"])
        if source is None:
            self.add_error("source", "There is no such source any more.")
        elif asks_by_request(source) and (said["sql"] or said["parameters"] or said["shape"]):
            self.add_error("sql", f"{source.name} is asked by a request; leave statement, parameters and shape empty.")
        elif asks_by_request(source) and said["request"] is None:
            self.add_error("request", f"{source.name} is asked by a request; write it.")
        elif not asks_by_request(source) and said["request"] is not None:
            self.add_error("request", f"{source.name} is read by a statement; leave the request empty.")
        elif not asks_by_request(source) and not said["shape"]:
            self.add_error("shape", f"{source.name} is read by a statement; say how its rows become the result.")

    def body(self) -> dict[str, Any]:
        """The definition's body, once the form is valid."""
        said = self.cleaned_data
        own = contracts.REQUEST_KEYS if said["request"] is not None else contracts.SQL_KEYS
        body = {key: said[key] for key in (contracts.KEYS - set(FIXED)) | own}
        caps = {key: said[key] for key in contracts.OPTIONAL if said[key] is not None}
        return {**body, **FIXED, **caps}

    def findings(self) -> list[tuple[Flaw, int | None]]:
        """The words that a contract may not use, as far as it is typed, each with its line where it is in JSON."""
        typed = self._typed()
        return [(flaw, self._line(flaw)) for flaw in contract_lint.flaws(str(self["name"].value() or ""), typed)]

    def _typed(self) -> dict[str, Any]:
        """A body from what was typed so far; what is no JSON yet says nothing."""
        texts = {key: str(self[key].value() or "") for key in (*TEXTS, *OBJECTS, *LINES)}
        return {
            **{key: texts[key] for key in TEXTS},
            **{key: _parsed(texts[key]) for key in OBJECTS},
            **{key: texts[key].splitlines() for key in LINES},
        }

    def _line(self, flaw: Flaw) -> int | None:
        key, _, below = flaw.place.removeprefix("/").partition("/")
        return json_places.line_of(str(self[key].value() or ""), f"/{below}") if key in OBJECTS else None

    def refuse(self, findings: list[tuple[Flaw, int | None]]) -> None:
        """Put the first finding of each field at the field."""
        for flaw, line in findings:
            key = flaw.place.removeprefix("/").partition("/")[0]
            if key not in self.errors:
                self.add_error(key, f"Line {line}, {flaw.sentence}" if line else flaw.sentence)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def initial_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as the form shows it."""
    return {
        **body,
        **{key: json.dumps(body[key], indent=2, ensure_ascii=False) for key in OBJECTS if body.get(key) is not None},
        **{key: "\n".join(body[key]) for key in LINES if key in body},
    }
