"""Credentials: a definition names the environment variable, and the secret never stands in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from audit.models import Definition
from evidence.errors import Problem

VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,79}")
OWN = ("COUNTERSEAL_", "DATABASE_URL")  # our own database is no source


def check_variable(key: str, value: Any) -> None:
    """Raise ValueError with a sentence unless the value can name the variable of a credential."""
    if not isinstance(value, str) or VARIABLE.fullmatch(value) is None or value.startswith(OWN):
        raise ValueError(f"{key} names an environment variable like SHOP_READER_DSN; the credential never stands here.")


def check_two(body: Mapping[str, Any]) -> None:
    """Raise ValueError unless reader_env and doctor_env name two variables."""
    for key in ("reader_env", "doctor_env"):
        check_variable(key, body[key])
    if body["reader_env"] == body["doctor_env"]:
        raise ValueError("The reader cannot prove itself: doctor_env must name another credential.")


def secret(source: Definition, key: str) -> str:
    """The value of the variable that the source names under this key. Raises Problem when it is unset."""
    return of_variable(source.name, source.body[key])


def of_variable(source_name: str, variable: str) -> str:
    """The value of a variable that a source needs. Raises Problem when it is unset."""
    found = os.environ.get(variable, "")
    if not found:
        raise Problem(503, "source_unset", f"The source {source_name} needs the environment variable {variable}.")
    return found
