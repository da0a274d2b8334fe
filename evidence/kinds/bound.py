"""Requests as templates: JSON in which {"argument": "job_id"} stands for what the agent gives under that name.

A value takes the place of a value, never of a name, and no text is put together from others, so an argument cannot
become anything but a value. An argument that was not given takes the key or the item that it stands for with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

ARGUMENT = "argument"
_NOT_GIVEN = object()


def is_argument(template: Any) -> bool:
    """Whether the template is nothing but the place of an argument."""
    return isinstance(template, dict) and ARGUMENT in template


def names(template: Any) -> Iterator[str]:
    """The names of the arguments that the template takes. Raises ValueError for a place that is not written as one."""
    if is_argument(template):
        if set(template) != {ARGUMENT} or not isinstance(template[ARGUMENT], str):
            raise ValueError('The place of an argument is written {"argument": "its name"}, and nothing else in it.')
        yield template[ARGUMENT]
        return
    children = template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    for child in children:
        yield from names(child)


def request(body: Mapping[str, Any]) -> Any:
    """The template that a tool's body says. Raises ValueError with a sentence for a body that has sql instead."""
    if "request" not in body:
        raise ValueError("A tool of this kind of source says its request, and has no sql.")
    return body["request"]


def check(template: Any, body: Mapping[str, Any], must_be_given: bool = False) -> None:
    """Raise ValueError unless the template takes exactly the properties of the tool's input schema.

    A property that nothing takes would be recorded as asked for, and change nothing. Where a missing argument would
    make the question a wider one, each must be required (`must_be_given`).
    """
    taken, schema = set(names(template)), body["input_schema"]
    properties = set(schema.get("properties", {}))
    stray = sorted(taken - properties)
    if stray:
        raise ValueError(f"The argument {stray[0][:60]} is no property of the input schema.")
    idle = sorted(properties - taken)
    if idle:
        raise ValueError(f"The property {idle[0][:60]} is taken by nothing in the request.")
    optional = sorted(taken - set(schema.get("required", [])))
    if must_be_given and optional:
        raise ValueError(f"Without {optional[0][:60]} the question would be a wider one; let the tool require it.")


def check_places(template: Any, places: Mapping[str, Collection[str]], always_asked: Collection[str] = ()) -> None:
    """Raise ValueError unless the record of a call will say what was asked.

    Rules read the arguments by their names, so an argument with a name in `places` stands under one of its keys. What
    narrows an answer without a trace in it (`always_asked`) is an argument, never fixed; where there is but one value
    for it, the input schema says so.
    """
    for key, name in _placed(template, ""):
        if name in places and key not in places[name]:
            raise ValueError(
                f"{name} is what {' or '.join(sorted(places[name])) or 'another tool'} is called; rename it."
            )
    for key in _fixed(template):
        if key in always_asked:
            raise ValueError(
                f"{key} narrows the answer, so let it be an argument; its schema may allow one value alone."
            )


def _placed(template: Any, key: str) -> Iterator[tuple[str, str]]:
    """Each argument, with the name of the place that it stands in."""
    if is_argument(template):
        yield key, template[ARGUMENT]
    elif isinstance(template, dict):
        for inner, child in template.items():
            yield from _placed(child, inner)
    elif isinstance(template, list):
        for child in template:
            yield from _placed(child, key)


def _fixed(template: Any) -> Iterator[str]:
    """The names of the places whose value is not an argument."""
    if isinstance(template, dict) and not is_argument(template):
        for key, child in template.items():
            if not is_argument(child):
                yield key
            yield from _fixed(child)


def bind(template: Any, given: Mapping[str, Any]) -> Any:
    """The template with the arguments in their places. An argument that is null was not given."""
    found = _bound(template, given)
    return None if found is _NOT_GIVEN else found


def _bound(template: Any, given: Mapping[str, Any]) -> Any:
    if is_argument(template):
        value = given.get(template[ARGUMENT])
        return _NOT_GIVEN if value is None else value
    if isinstance(template, dict):
        pairs = ((key, _bound(value, given)) for key, value in template.items())
        return {key: value for key, value in pairs if value is not _NOT_GIVEN}
    if isinstance(template, list):
        return [value for value in (_bound(item, given) for item in template) if value is not _NOT_GIVEN]
    return template
