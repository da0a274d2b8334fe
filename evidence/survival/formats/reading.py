"""A file to collected steps: JSON or lines of it, in a format that is named or found out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

from evidence.survival.formats import (
    anthropic_messages,
    atif,
    claude_code,
    inspect_log,
    langchain,
    langfuse,
    openai_chat,
    openai_responses,
    openinference,
    otel_genai,
    plain_steps,
    swe_agent,
    who_and_when,
)
from evidence.survival.formats.collected import MALFORMED, Collected, TraceError
from evidence.survival.formats.several import several

# The unmistakable ones first: the last take what any of them could be.
ORDER: tuple[ModuleType, ...] = (
    langfuse, openinference, otel_genai, inspect_log, who_and_when, swe_agent, atif, claude_code,
    anthropic_messages, openai_responses, plain_steps, langchain, openai_chat,
)  # fmt: skip
FORMATS: Mapping[str, ModuleType] = {module.NAME: module for module in ORDER}
# Those of which a file holds one, and a file of lines one a line.
WHOLE = (langfuse, inspect_log, who_and_when, swe_agent, atif, claude_code, plain_steps)
AUTO = "auto"
NOT_JSON = "the line is not JSON"


class Parsed(NamedTuple):
    """What a file holds, and how many of its lines are no JSON."""

    document: Any
    broken: int


def read_trace(text: str, form: str = AUTO) -> Collected:
    """The steps of a trace file. Raises TraceError when it is in no format that is known, or not in the one named."""
    return read_parsed(parse(text), form)


def read_parsed(parsed: Parsed, form: str = AUTO) -> Collected:
    """The same of a file that was parsed before."""
    module = _found(parsed.document) if form == AUTO else _named(form)
    collected = Collected(module.NAME)
    try:
        for document in _documents(module, parsed.document):
            module.read(document, collected)
    except (*MALFORMED, RecursionError) as error:
        raise TraceError(f"The file is not in the format {module.NAME}.") from error
    if parsed.broken:
        collected.skipped[NOT_JSON] += parsed.broken
    return collected


def _found(document: Any) -> ModuleType:
    several = next((module for module in WHOLE if _are_all_in(module, document)), None)
    if several is not None:
        return several
    for whole in (document, [document]) if isinstance(document, Mapping) else (document,):
        for module in ORDER:
            if _is_in(module, whole):
                return module
    raise TraceError(f"The file is in none of the formats that are known: {', '.join(FORMATS)}.")


def _documents(module: ModuleType, document: Any) -> list[Any]:
    """The documents of a file: one for each line; one; or one whose only line a single object is."""
    if module in WHOLE and _are_all_in(module, document):
        return list(document)
    is_line = isinstance(document, Mapping) and not _is_in(module, document) and _is_in(module, [document])
    return [[document]] if is_line else [document]


def _are_all_in(module: ModuleType, document: Any) -> bool:
    return isinstance(document, list) and bool(document) and all(_is_in(module, one) for one in document)


def _is_in(module: ModuleType, document: Any) -> bool:
    try:
        return bool(module.detect(document))
    except (*MALFORMED, RecursionError):
        return False  # it looks like it from outside only


def _named(form: str) -> ModuleType:
    if form not in FORMATS:
        raise TraceError(f"There is no format {form}; there are {', '.join(FORMATS)}.")
    return FORMATS[form]


def parse(text: str) -> Parsed:
    """A file's text as JSON, or as lines of it. Raises TraceError when it is neither."""
    text = text.removeprefix("\ufeff")
    try:
        return Parsed(json.loads(text), 0)
    except RecursionError as error:
        raise TraceError("The file is nested too deeply.") from error
    except ValueError:
        return Parsed(*several(text))
