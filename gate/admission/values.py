"""What counts as a number, a text or a name in JSON that somebody else wrote."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_number(value: Any) -> TypeGuard[int | float]:
    """An integer or a float. A boolean is none, though Python compares it like one, and NaN is none."""
    return (type(value) is int or type(value) is float) and value == value


def is_within(value: Any, low: float, high: float) -> TypeGuard[int | float]:
    """A number between both, the ends included."""
    return is_number(value) and low <= value <= high


def is_name(value: Any) -> TypeGuard[str]:
    """Text with something in it."""
    return isinstance(value, str) and value.strip() != ""
