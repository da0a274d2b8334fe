"""What may be shown of an answer, to an agent or a person: it is this that is recorded, exactly as it was shown."""

from __future__ import annotations

from typing import Any

from audit import payloads
from evidence import result_secrets
from evidence.arguments import is_deep
from evidence.errors import Refused
from evidence.escaping import escaped


def showable(found: dict[str, Any]) -> dict[str, Any]:
    """What may be shown of an answer: secrets masked, and what cannot be seen written out. Raises Refused."""
    if is_deep(found):
        raise Refused("too_nested", "The result nests too deeply to be read again, so it is kept out.")
    try:
        shown: dict[str, Any] = escaped(result_secrets.masked(found))
    except ValueError as unclear:
        raise Refused("masked_keys", f"{unclear} The result is kept out, for a part would be lost.") from unclear
    return shown


def check_size(result: dict[str, Any]) -> None:
    """Raise Refused for a result that is too large to be recorded whole."""
    if payloads.pack(result).is_cut:
        raise Refused("too_large", "The result is larger than the log keeps; narrow the arguments.")
