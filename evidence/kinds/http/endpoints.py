"""Kinds whose servers have a fixed set of reading endpoints: what a contract says of one, and what is sent for it.

A contract's request is {"endpoint": name, "parameters": {...}}. A parameter is a fixed text, or {"argument": name} for
what the agent says. In a query that is fixed, `$name` stands for a text of the agent's (evidence.kinds.http.literals).

Rules read a recorded call by the names of its arguments: `start` is where the asked time began. So an argument that is
called like a parameter must be that parameter, and there is none that is asked for and then not sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.errors import Refused
from evidence.kinds.http import encoding, literals

Given = Mapping[str, Any]


@dataclass(frozen=True)
class Endpoint:
    """One reading endpoint: where it is, with {name} for a segment of its path, and what it takes."""

    path: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    always: tuple[tuple[str, str], ...] = ()  # sent with every request, whatever the contract says

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset((*self.needs, *self.takes))


@dataclass(frozen=True)
class Api:
    """The reading endpoints of a kind, and what its parameters are called where they are arguments."""

    endpoints: Mapping[str, Endpoint]
    queries: frozenset[str]  # parameters that are a query, and may hold placeholders
    spellings: Mapping[str, tuple[str, ...]]  # an argument for a parameter; for one that is not here, its own name
    headers: tuple[tuple[str, str], ...] = ()  # sent with every request

    def names_of(self, parameter: str) -> tuple[str, ...]:
        """What an argument for this parameter may be called."""
        return self.spellings.get(parameter, (parameter.removesuffix("[]"),))


@dataclass(frozen=True)
class Sent:
    """What is asked of the server: the endpoint, its parameters as they are sent, and path and query."""

    endpoint: str
    parameters: Mapping[str, Any]
    target: str = field(repr=False)


def check(api: Api, body: Mapping[str, Any]) -> None:
    """Raise ValueError with a sentence unless the contract's request can be sent, and says what it sends."""
    request = body.get("request")
    if not isinstance(request, dict) or set(request) != {"endpoint", "parameters"}:
        raise ValueError("A request says its endpoint and its parameters.")
    name, parameters = request["endpoint"], request["parameters"]
    if not isinstance(name, str) or name not in api.endpoints:
        raise ValueError(f"The endpoint is one of {', '.join(sorted(api.endpoints))}.")
    if not isinstance(parameters, dict):
        raise ValueError("parameters is an object: names with fixed texts, or with the argument that they take.")
    _check_parameters(api, name, parameters)
    _check_arguments(api, body["input_schema"], name, parameters)


def _check_parameters(api: Api, name: str, parameters: Mapping[str, Any]) -> None:
    endpoint = api.endpoints[name]
    missing = next((one for one in endpoint.needs if one not in parameters), None)
    if missing is not None:
        raise ValueError(f"The endpoint {name} needs the parameter {missing}.")
    for parameter, value in parameters.items():
        if parameter not in endpoint.parameters:
            takes = ", ".join(sorted(endpoint.parameters)) or "none"
            raise ValueError(f"The endpoint {name} takes no parameter {parameter[:60]}; it takes {takes}.")
        _check_value(api, parameter, value)


def _check_value(api: Api, parameter: str, value: Any) -> None:
    argument = argument_of(value)
    if argument is not None:
        if argument not in api.names_of(parameter):
            names = " or ".join(api.names_of(parameter))
            raise ValueError(f"The argument for {parameter} is called {names}, as the rules that read it expect.")
    elif not isinstance(value, str) or value == "":
        raise ValueError(f'{parameter} is a fixed text, or {{"argument": "…"}}.')
    elif parameter in api.queries:
        literals.pieces(value)


def argument_of(value: Any) -> str | None:
    """The argument that a parameter takes, or None for a fixed text."""
    if isinstance(value, dict) and set(value) == {"argument"} and isinstance(value["argument"], str):
        return str(value["argument"])
    return None


def _check_arguments(api: Api, schema: Mapping[str, Any], name: str, parameters: Mapping[str, Any]) -> None:
    taken, filling = _taken(parameters), set(_filling(api, parameters))
    named = {spelling for one in api.endpoints[name].parameters for spelling in api.names_of(one)}
    misnamed = sorted(filling & named)
    if misnamed:
        raise ValueError(
            f"${misnamed[0]} has the name of a parameter; a rule would take it for one. Name it otherwise."
        )
    properties = set(schema.get("properties", {}))
    lost = sorted((set(taken) | filling) - properties)
    if lost:
        raise ValueError(f"The argument {lost[0][:60]} is no property of the input schema.")
    idle = sorted(properties - set(taken) - filling)
    if idle:
        raise ValueError(f"The argument {idle[0][:60]} is asked for and not sent; a rule could take it for sent.")
    _check_required(api.endpoints[name], schema, taken, filling)


def _check_required(endpoint: Endpoint, schema: Mapping[str, Any], taken: Mapping[str, str], filling: set[str]) -> None:
    needed = filling | {argument for argument, parameter in taken.items() if parameter in endpoint.needs}
    optional = sorted(needed - set(schema.get("required", [])))
    if optional:
        raise ValueError(f"The argument {optional[0][:60]} is needed, so the input schema requires it.")


def _taken(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Which parameter each argument is."""
    found = ((argument_of(value), parameter) for parameter, value in parameters.items())
    return {argument: parameter for argument, parameter in found if argument is not None}


def _filling(api: Api, parameters: Mapping[str, Any]) -> Iterator[str]:
    """The arguments that stand in the queries."""
    for parameter in sorted(api.queries & set(parameters)):
        if isinstance(parameters[parameter], str):
            yield from literals.names(parameters[parameter])


def asks_freely(api: Api, request: Mapping[str, Any]) -> bool:
    """Whether the agent writes a query itself."""
    return any(argument_of(value) is not None for name, value in request["parameters"].items() if name in api.queries)


def sent(api: Api, request: Mapping[str, Any], given: Given) -> Sent:
    """What a checked request comes to with these arguments. Raises Refused."""
    endpoint = api.endpoints[request["endpoint"]]
    parameters = {
        name: value
        for name, said in request["parameters"].items()
        if (value := _value(api, name, said, given)) is not None
    }
    missing = next((name for name in endpoint.needs if name not in parameters), None)
    if missing is not None:
        raise Refused("parameters", f"The request needs the parameter {missing}.")
    return Sent(request["endpoint"], parameters, _target(endpoint, parameters))


def _value(api: Api, parameter: str, said: Any, given: Given) -> Any:
    argument = argument_of(said)
    if argument is not None:
        return given.get(argument)
    return literals.filled(said, given) if parameter in api.queries else said


def _target(endpoint: Endpoint, parameters: Mapping[str, Any]) -> str:
    path, rest = endpoint.path, dict(parameters)
    for name in [name for name in endpoint.needs if f"{{{name}}}" in path]:
        path = path.replace(f"{{{name}}}", encoding.segment(rest.pop(name)))
    return path + encoding.query([*_ordered(endpoint, rest), *endpoint.always])


def _ordered(endpoint: Endpoint, parameters: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    order: Sequence[str] = (*endpoint.needs, *endpoint.takes)
    return ((name, parameters[name]) for name in order if name in parameters)
