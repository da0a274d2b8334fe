"""OpenAI's chat completions with structured output, which many servers speak.

https://platform.openai.com/docs/api-reference/chat, https://platform.openai.com/docs/guides/structured-outputs
"""

from __future__ import annotations

from typing import Any

import httpx2
import openai

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
from gate.admission.answering.wording import KEY, SYSTEM


def send(endpoint: Endpoint, http: httpx2.Client, message: str, schema: dict[str, Any]) -> bytes:
    """Ask once, and give the body of the answer as it came. Raises NoAnswer."""
    client = openai.OpenAI(api_key=endpoint.key, base_url=endpoint.url, max_retries=0, http_client=http)
    try:
        raw = client.chat.completions.with_raw_response.create(
            model=endpoint.model,
            messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": message}],
            response_format={"type": "json_schema", "json_schema": {"name": KEY, "strict": True, "schema": schema}},
            timeout=http.timeout,
        )
    except openai.APITimeoutError as error:
        raise NoAnswer(LATE) from error
    except openai.APIStatusError as error:
        raise refused(error.status_code) from error
    except (openai.OpenAIError, httpx2.HTTPError) as error:
        raise NoAnswer(UNREACHABLE) from error
    return raw.http_response.content


def text_of(body: Any) -> str:
    """The text of the one choice, which ended by itself. Raises NoAnswer."""
    match body:
        case {"choices": [{"message": {"refusal": str(words)}}]} if words:
            raise NoAnswer(DECLINED)
        case {"choices": [{"message": {"role": "assistant", "content": str(text)}, "finish_reason": "stop"}]}:
            return text
        case {"choices": [{"finish_reason": "length"}]}:
            raise NoAnswer(CUT_OFF)
        case {"choices": [{"finish_reason": "content_filter"}]}:
            raise NoAnswer(DECLINED)
    raise NoAnswer(NOT_IN_THE_FORM)
