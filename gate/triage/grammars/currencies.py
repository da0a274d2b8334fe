"""Codes of currencies (ISO 4217), which people write in capitals and Stripe in small letters."""

from __future__ import annotations

import re

_CODE = re.compile(r"[A-Z]{3}", re.ASCII)


def as_answered(code: str) -> str:
    """The code in small letters where it is one in capitals; anything else stays as it is, and equals nothing."""
    return code.lower() if _CODE.fullmatch(code) is not None else code
