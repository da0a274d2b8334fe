"""JSON as a column keeps it without losing digits: numbers with a point or exponent are Decimals both ways."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import simplejson


class ExactEncoder(json.JSONEncoder):
    """Writes a Decimal as the number that it is; jsonb keeps each of its digits."""

    def encode(self, o: Any) -> str:
        """The value in JSON. Raises TypeError or ValueError for what is none."""
        return str(simplejson.dumps(o, use_decimal=True, allow_nan=False))


class ExactDecoder(json.JSONDecoder):
    """Reads numbers with a point or exponent as Decimals."""

    def __init__(self, **options: Any) -> None:
        """The standard decoder's options."""
        super().__init__(parse_float=Decimal, **options)
