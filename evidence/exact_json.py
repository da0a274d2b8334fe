"""JSON over HTTP without losing digits: numbers with a point or exponent are Decimals both ways."""

from __future__ import annotations

from typing import IO, Any, NoReturn

import simplejson
from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from evidence.errors import Problem


class ExactJSONParser(BaseParser):
    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """The body's value. Raises ParseError for what is not JSON (NaN and infinities are not), Problem for too much.

        Django's own limit is on what it reads itself, and this is read past it.
        """
        most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        raw = stream.read(most + 1)
        if len(raw) > most:
            raise Problem(413, "too_large", f"The body is longer than {most:,} bytes; send less.")
        try:
            return simplejson.loads(raw, use_decimal=True, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ParseError("The body is not JSON.") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


class ExactJSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """ASCII JSON, so that any character that PostgreSQL's JSON can hold goes through."""
        return b"" if data is None else dumps(data).encode("ascii")


def dumps(data: Any) -> str:
    """Exact JSON text."""
    return simplejson.dumps(data, use_decimal=True, allow_nan=False, separators=(",", ":"))


def strict(raw: bytes) -> Any:
    """The value of JSON that somebody else wrote, its numbers exact.

    Raises ValueError with a sentence that repeats nothing of it: for what is no JSON in UTF-8, for NaN and infinities,
    and for an object with a key twice, of which two readers may see different values.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8.") from error
    try:
        return simplejson.loads(text, use_decimal=True, parse_constant=_refuse, object_pairs_hook=_object)
    except _Twice as error:
        raise ValueError("a key stands in it twice.") from error
    except (ValueError, RecursionError) as error:
        raise ValueError("it cannot be read.") from error


class _Twice(Exception):
    """An object with a key twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found
