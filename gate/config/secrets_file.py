"""The random passwords and keys of an embedded installation: one JSON file of mode 0600 below var/."""

import json
import os
import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from audit import notes
from gate.config.environment import var_dir
from gate.config.roles import PROCESSES

ANEW = (
    "Move it away, and the next start draws new ones: everybody signs in anew, and the log goes on with a new key "
    "once manage.py reopen_log says why."
)
KEYS = (
    "secret_key", "broker", "shop_owner", "shop_reader", "shop_doctor", "shop_writer", "own_reader", "own_doctor",
)  # fmt: skip


def path() -> Path:
    """The file, whether or not it exists yet."""
    return var_dir() / "secrets.json"


@cache
def load() -> dict[str, str]:
    """The stored secrets, or an empty dict before the first start.

    Raises ImproperlyConfigured for a file that cannot be read, or that others can read.
    """
    try:
        with path().open() as stream:
            _check_is_closed(os.fstat(stream.fileno()).st_mode)
            return _checked(json.load(stream))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except PermissionError:
        raise ImproperlyConfigured(
            f"{path()} is not yours to read. Run it as the account that started it first, or choose another place with "
            "COUNTERSEAL_VAR."
        ) from None
    except ValueError as error:
        raise ImproperlyConfigured(f"{path()} is broken ({error}). {ANEW}") from error


def _checked(values: Any) -> dict[str, str]:
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise ValueError("it is no object of texts")
    return values


def _check_is_closed(mode: int) -> None:
    if mode & 0o077:
        raise ImproperlyConfigured(
            f"{path()} is open to other accounts (mode {mode & 0o777:o}). If nobody else can have read it, close it "
            f"with chmod 600. {ANEW}"
        )


def create_missing() -> dict[str, str]:
    """Draw what is not there yet and return all; an existing value is never replaced."""
    stored = dict(load())
    wanted = [*KEYS, *(f"db_{process}" for process in PROCESSES)]
    missing = {key: secrets.token_urlsafe(32) for key in wanted if key not in stored}
    if "seal_key" not in stored:
        # A name of its own, so that two installations' logs are never taken for one.
        missing["seal_key"] = str(notes.new_key(f"counterseal.local/{secrets.token_hex(4)}"))
    if missing:
        write(path(), {**stored, **missing})
        load.cache_clear()
    return load()


def write(target: Path, values: Mapping[str, Any]) -> None:
    """Write values as JSON that only our account reads. A crash leaves the old file or the new one, never half."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # Made anew with its mode: a file that others could read once may still be open in their hands.
    draft = target.with_name(f"{target.name}.new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as stream:
        json.dump(values, stream, indent=1)
        stream.flush()
        os.fsync(handle)  # or a power cut could leave the new name with nothing in it
    draft.rename(target)
