"""Clients of Amazon's APIs that take nothing from the machine: no profile, file, role, proxy or endpoint of its own.

A call is sent once: boto3's own retries are off. The host follows from the region, over TLS with a certificate that is
checked, so that nobody else can answer under its name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import boto3  # type: ignore[import-untyped]  # ships no types
import botocore.session  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.configprovider import BOTOCORE_DEFAUT_SESSION_VARIABLES  # type: ignore[import-untyped]
from botocore.exceptions import (  # type: ignore[import-untyped]
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    ParamValidationError,
    ReadTimeoutError,
)
from botocore.parsers import ResponseParserError  # type: ignore[import-untyped]

from evidence.errors import Refused
from evidence.kinds.cloudwatch.keys import Key, said

CONNECTING = 3.0  # seconds
# Codes by which the services say that the question itself was wrong.
ASKED_WRONG = frozenset((
    "ValidationError", "ValidationException", "InvalidParameterException", "InvalidParameterValue",
    "InvalidParameterCombination", "MalformedQueryException", "InvalidFormat", "MissingParameter",
    "MissingRequiredParameter",
))  # fmt: skip
# What botocore's parsers let through of an answer that is none: text that is no text, numbers and moments that are out
# of reach, lists in the place of objects, and nesting without end.
_UNREADABLE = (
    ResponseParserError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
_FILES = ("config_file", "credentials_file")


def client(service: str, region: str, held: Key, seconds: float) -> Any:
    """The client of a service in a region."""
    return _made(service, region, held, seconds)


@lru_cache(maxsize=64)
def _made(service: str, region: str, held: Key, seconds: float) -> Any:
    config = Config(
        connect_timeout=min(CONNECTING, seconds), read_timeout=seconds, proxies={},
        retries={"total_max_attempts": 1, "mode": "standard"}, ignore_configured_endpoint_urls=True,
    )  # fmt: skip
    session = boto3.session.Session(
        aws_access_key_id=held.number, aws_secret_access_key=held.secret, aws_session_token=held.token,
        region_name=region, botocore_session=botocore.session.Session(session_vars=_nothing_of_the_machine()),
    )  # fmt: skip
    return session.client(service, config=config, verify=True, endpoint_url=_endpoint(service))


def _endpoint(service: str) -> str | None:
    """None: the service's own, which botocore knows by the region."""
    return None


def _nothing_of_the_machine() -> Mapping[str, Any]:
    """Every setting with its default and without the variable or file that could change it."""
    found = {name: (None, None, default, reading)
             for name, (_, _, default, reading) in BOTOCORE_DEFAUT_SESSION_VARIABLES.items()}  # fmt: skip
    return {**found, **dict.fromkeys(_FILES, (None, None, os.devnull, None))}


@contextmanager
def refusals(name: str, *held: Key) -> Iterator[None]:
    """Everything that a call raises, as Refused, without the credential in it."""
    try:
        yield
    except ClientError as error:
        raise _answered(name, error, held) from error
    except ParamValidationError as error:
        raise Refused("parameters", said(str(error), held)) from error
    except ReadTimeoutError as error:
        raise Refused("too_slow", f"{name} took too long to answer.") from error
    except (ConnectionError, HTTPClientError) as error:
        raise Refused("unreachable", f"{name} could not be reached.") from error
    except (BotoCoreError, *_UNREADABLE) as error:
        raise Refused("broken_off", f"{name} gave no answer that could be read.") from error


def is_stopped(client: Any, number: str) -> bool:
    """Have a query of logs stopped. False when it may go on; why, is no part of what was asked. It does not raise."""
    try:
        return client.stop_query(queryId=number).get("success") is True
    except ClientError as error:
        # So says the service of a query that has come to its end meanwhile.
        return bool(error.response.get("Error", {}).get("Code") == "InvalidParameterException")
    except (BotoCoreError, *_UNREADABLE):
        return False


def _answered(name: str, error: ClientError, held: tuple[Key, ...]) -> Refused:
    told = error.response.get("Error", {})
    code = str(told.get("Code", "Unknown"))
    words = said(str(told.get("Message", "")), held)
    return Refused("parameters" if code in ASKED_WRONG else "aws_error", f"{name} answered {code}: {words}")
