"""Checks of what a source's body says, for the kinds whose sources say the same."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

SLUG = re.compile(r"[a-z][a-z0-9_-]{0,62}")
SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def check_keys(body: Mapping[str, Any], needed: Collection[str], optional: Collection[str]) -> None:
    """Raise ValueError with a sentence unless the body says what is needed, and nothing that is not known."""
    if set(body) - set(optional) != set(needed):
        more = f", and may say {' and '.join(sorted(optional))}" if optional else ""
        raise ValueError(f"A source of the kind {body['kind']} says exactly {', '.join(sorted(needed))}{more}.")


def check_environment(body: Mapping[str, Any]) -> None:
    """Raise ValueError unless the environment is a short name."""
    if not is_slug(body["environment"]):
        raise ValueError("environment is a short name in lower case, like production.")


def is_slug(value: Any) -> bool:
    """Whether the value is a short name in lower case."""
    return isinstance(value, str) and SLUG.fullmatch(value) is not None


def check_schema(body: Mapping[str, Any]) -> None:
    """Raise ValueError unless `schema` can be the name of the one schema that a database shows its reader."""
    if not isinstance(body["schema"], str) or not SCHEMA.fullmatch(body["schema"]):
        raise ValueError("schema is the name of the schema that the reader sees, in lower case.")


def check_query(body: Mapping[str, Any]) -> None:
    """Raise ValueError unless `query`, where it stands, says yes or no."""
    if not isinstance(body.get("query", False), bool):
        raise ValueError("query is true where agents may write SELECTs of their own, else false or left out.")


def check_accepts(body: Mapping[str, Any], acceptable: Collection[str]) -> None:
    """Raise ValueError unless `accepts`, where it stands, lists facts that later lines can close."""
    names = body.get("accepts", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("accepts is a list of names of facts.")
    wall = next((name for name in names if name not in acceptable), None)
    if wall is not None:
        raise ValueError(f"{wall[:60]} cannot be left to later lines; these can: {', '.join(sorted(acceptable))}.")
