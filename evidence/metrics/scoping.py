"""The scope that somebody asks about: values for the keys that a version registers, and nothing else. Pure.

It is a parameter of the formula and never a part of it. A key that is left out is null there, so a formula that needs
it finds no row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evidence.kinds import moments
from evidence.metrics.definition import MetricVersion

LONGEST = 200  # characters of a value


def misfit(version: MetricVersion, scope: Mapping[str, object]) -> str:
    """Why a scope is none of this version, as one sentence that repeats no value; empty when it is one."""
    unknown = sorted(set(scope) - set(version.scope))
    if unknown:
        return f"{unknown[0][:60]} is no key of the scope of {version.metric_id}, which has {_listed(version.scope)}."
    if not scope:
        return f"The scope says at least one of {_listed(version.scope)}."
    for key, value in sorted(scope.items()):
        wanted, fits = _KINDS[version.scope[key]]
        if not fits(value):
            return f"The scope's {key} is {wanted}."
    return ""


def _listed(keys: Mapping[str, str]) -> str:
    return ", ".join(keys)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST and value.isprintable()


def _is_key(value: object) -> bool:
    return _is_text(value) or (type(value) is int and abs(value) < 2**63)


def _is_instant(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        moments.parse(value)
    except ValueError:
        return False
    return True


_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "key": (f"a text of 1 to {LONGEST} characters or a whole number", _is_key),
    "text": (f"a text of 1 to {LONGEST} characters", _is_text),
    "instant": ("a moment with its zone, as 2026-05-01T00:06:40Z", _is_instant),
}
