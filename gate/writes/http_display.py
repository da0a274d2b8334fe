"""A canonical request for the eye: exactly its text, with the method marked."""

from __future__ import annotations

from gate.writes.display import Line, Part


def lines(statement: str) -> list[Line]:
    """The request's first line and the body as it is sent."""
    first, *rest = statement.split("\n")
    method, space, url = first.partition(" ")
    return [Line("", [Part(method, True), Part(space + url, False)]), *(Line("", [Part(one, False)]) for one in rest)]
