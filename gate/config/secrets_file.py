"""The random passwords and keys of an embedded installation: one JSON file of mode 0600 below var/."""

import json
import os
import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gate.config.environment import var_dir
from gate.config.roles import PROCESSES

KEYS = ("secret_key", "broker", "shop_owner", "shop_reader", "shop_doctor", "shop_writer")


def path() -> Path:
    """The file, whether or not it exists yet."""
    return var_dir() / "secrets.json"


@cache
def load() -> dict[str, str]:
    """The stored secrets, or an empty dict before the first start."""
    try:
        return dict(json.loads(path().read_text()))
    except FileNotFoundError:
        return {}


def create_missing() -> dict[str, str]:
    """Draw what is not there yet and return all; an existing value is never replaced."""
    stored = dict(load())
    wanted = [*KEYS, *(f"db_{process}" for process in PROCESSES)]
    missing = {key: secrets.token_urlsafe(32) for key in wanted if key not in stored}
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
    draft.rename(target)
