"""What the demo keeps for whoever tries it: addresses, passwords and the agent's token, in var/demo.json, mode 0600."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gate.config import secrets_file
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
    secrets_file.write(draft_path(), values)
    path().unlink(missing_ok=True)


def finish(values: dict[str, Any]) -> None:
    """Keep the values for good. The file appears whole or not at all."""
    secrets_file.write(path(), values)
    draft_path().unlink(missing_ok=True)
