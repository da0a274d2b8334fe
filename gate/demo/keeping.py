"""What the demo keeps for whoever tries it: addresses, passwords and the agent's token, in var/demo.json, mode 0600."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from gate.config.environment import var_dir


def path() -> Path:
    """The file; it appears when the demo is complete."""
    return var_dir() / "demo.json"


def draft_path() -> Path:
    """The file of a demo that is still being made, so that one that was interrupted can go on."""
    return var_dir() / "demo.json.draft"


def is_complete() -> bool:
    """Whether the demo was made to its end."""
    return path().exists()


def load() -> dict[str, Any]:
    """What is kept so far; empty before the first start."""
    for file in (path(), draft_path()):
        if file.exists():
            return dict(json.loads(file.read_text()))
    return {}


def keep(values: dict[str, Any]) -> None:
    """Keep values while the demo is being made. A complete file that is there then belongs to another database."""
    _write(draft_path(), values)
    path().unlink(missing_ok=True)


def finish(values: dict[str, Any]) -> None:
    """Keep the values for good. The file appears whole or not at all."""
    _write(path(), values)
    draft_path().unlink(missing_ok=True)


def _write(file: Path, values: dict[str, Any]) -> None:
    # Made anew with its mode: a file that others could read once may still be open in their hands.
    new = file.with_name(file.name + ".tmp")
    new.unlink(missing_ok=True)
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as stream:
        json.dump(values, stream, indent=1)
    new.rename(file)
