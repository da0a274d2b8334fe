"""Reading the environment: three helpers, each failing with a sentence that says what to set."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parents[2]
HERE = ("localhost", "127.0.0.1", "::1")  # this machine, which a secret may reach unencrypted


def text(name: str, default: str | None = None) -> str:
    """The variable `name`, or `default`; raises ImproperlyConfigured when neither is there."""
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"Set the environment variable {name}.")
    return value


def secret(name: str) -> str:
    """The variable `name`, or what is in the file that `name`_FILE names; empty when neither is there.

    Raises ImproperlyConfigured for a file that others can read.
    """
    file = os.environ.get(f"{name}_FILE")
    if not file:
        return os.environ.get(name, "")
    path = Path(file)
    if not path.is_file() or path.stat().st_mode & 0o077:
        raise ImproperlyConfigured(f"{name}_FILE must name a file of mode 0600, and {path} is none.")
    return path.read_text().strip()


def number(name: str, default: int) -> int:
    """The variable `name` as a whole number; raises ImproperlyConfigured for anything else."""
    value = os.environ.get(name, str(default))
    if not value.isdecimal():
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.")
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """The variable `name` as a list, split at commas."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def counts(name: str) -> dict[str, int]:
    """The variable `name` as names with a number each, like A:2,B:1; raises ImproperlyConfigured for anything else."""
    found: dict[str, int] = {}
    for word in words(name):
        key, _, count = word.partition(":")
        if not key or key in found or not (count.isascii() and count.isdigit()) or int(count) < 1:
            raise ImproperlyConfigured(f"{name} must be names with a number each, like A:2,B:1, not {word!r}.")
        found[key] = int(count)
    return found


def var_dir() -> Path:
    """Where this machine's state lives: COUNTERSEAL_VAR, or var/ beside manage.py."""
    return Path(os.environ.get("COUNTERSEAL_VAR", BASE_DIR / "var")).resolve()
