"""Anthropic's messages with structured output.

https://platform.claude.com/docs/en/api/messages, https://platform.claude.com/docs/en/build-with-claude/structured-outputs
"""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2

from gate.admission.answering.endpoint import Endpoint
from gate.admission.answering.parsing import (
    CUT_OFF,
    DECLINED,
    LATE,
    NOT_IN_THE_FORM,
    UNREACHABLE,
    NoAnswer,
    refused,
)
from gate.admission.answering.wording import SYSTEM

MOST_TOKENS = 1_024  # of one answer: the protocol wants a number


def send(endpoint: Endpoint, http: httpx2.Client, message: str, schema: dict[str, Any]) -> bytes:
    """Ask once, and give the body of the answer as it came. Raises NoAnswer."""
    client = anthropic.Anthropic(api_key=endpoint.key, base_url=endpoint.url, max_retries=0, http_client=http)
    try:
        raw = client.messages.with_raw_response.create(
            model=endpoint.model,
            max_tokens=MOST_TOKENS,
            system=SYSTEM,
            messages=[{"role": "user", "content": message}],
            output_config={"format": {"type": "json_schema", "schema": schema}},
            timeout=http.timeout,
        )
    except anthropic.APITimeoutError as error:
        raise NoAnswer(LATE) from error
    except anthropic.APIStatusError as error:
        raise refused(error.status_code) from error
    except (anthropic.AnthropicError, httpx2.HTTPError) as error:
        raise NoAnswer(UNREACHABLE) from error
    return raw.http_response.content


def text_of(body: Any) -> str:
    """The one text, which ended by itself; what the model thought before it is no answer. Raises NoAnswer."""
    match body:
        case {"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [*blocks]}:
            return _one_text(blocks)
        case {"type": "message", "stop_reason": "max_tokens"}:
            raise NoAnswer(CUT_OFF)
        case {"type": "message", "stop_reason": "refusal"}:
            raise NoAnswer(DECLINED)
    raise NoAnswer(NOT_IN_THE_FORM)


def _one_text(blocks: list[Any]) -> str:
    match blocks:
        case [{"type": "text", "text": str(text)}] | [{"type": "thinking"}, {"type": "text", "text": str(text)}]:
            return text
    raise NoAnswer(NOT_IN_THE_FORM)
