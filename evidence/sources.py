"""Where facts come from: what a source's definition must say, and the credentials that it names."""

from __future__ import annotations

import os
import re
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from audit import outbox
from audit.models import Definition
from evidence import facts
from evidence.errors import Problem

KEYS = {"kind", "reader_env", "doctor_env", "environment", "schema"}
# accepts: names of facts that a server does not let be mended, and that later lines close: the source is served without
# them. query: whether agents may write SELECTs of their own over the exposed schema.
OPTIONAL = {"accepts", "query"}
ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,79}")
SLUG = re.compile(r"[a-z][a-z0-9_-]{0,62}")
IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,62}")
SECRET_PARAMETERS = ("password", "passfile", "sslpassword", "oauth_client_secret")
OWN = ("COUNTERSEAL_", "DATABASE_URL")  # our own database is no source


EXAMPLE = {
    "kind": "postgresql",
    "reader_env": "MYSHOP_READER_DSN",
    "doctor_env": "MYSHOP_DOCTOR_DSN",
    "environment": "production",
    "schema": "myshop_read",
}


def check(name: str, body: dict[str, Any]) -> None:
    """Raise ValueError with a sentence unless the body describes a source."""
    if not isinstance(body, dict) or set(body) - OPTIONAL != KEYS:
        raise ValueError(
            f"A source says exactly {', '.join(sorted(KEYS))}, and may say {' and '.join(sorted(OPTIONAL))}."
        )
    if body["kind"] != "postgresql":
        raise ValueError("The kind of a source is postgresql.")
    for key in ("reader_env", "doctor_env"):
        _check_environment_name(key, body[key])
    if body["reader_env"] == body["doctor_env"]:
        raise ValueError("The reader cannot prove itself: doctor_env must name another credential.")
    if not _fits(SLUG, body["environment"]):
        raise ValueError("environment is a short name in lower case, like production.")
    if not _fits(IDENTIFIER, body["schema"]):
        raise ValueError("schema is the name of the schema that the reader sees, in lower case.")
    if not isinstance(body.get("query", False), bool):
        raise ValueError("query is true where agents may write SELECTs of their own, else false or left out.")
    _check_accepts(body.get("accepts", []))


def _check_accepts(names: Any) -> None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("accepts is a list of names of facts.")
    wall = next((name for name in names if name not in facts.ACCEPTABLE), None)
    if wall is not None:
        raise ValueError(
            f"{wall[:60]} cannot be left to later lines; these can: {', '.join(sorted(facts.ACCEPTABLE))}."
        )


def _check_environment_name(key: str, value: Any) -> None:
    if not _fits(ENVIRONMENT_NAME, value) or value.startswith(OWN):
        raise ValueError(f"{key} names an environment variable like SHOP_READER_DSN; the credential never stands here.")


def _fits(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def dsn(source: Definition, key: str) -> str:
    """The connection string that the source's `reader_env` or `doctor_env` names. Raises Problem when it is unset."""
    variable = source.body[key]
    found = os.environ.get(variable, "")
    if not found:
        raise Problem(503, "source_unset", f"The source {source.name} needs the environment variable {variable}.")
    return found


def address(source: Definition) -> str:
    """The reader's credential without its secrets: which server, database and role it names. Raises Problem."""
    parameters = conninfo_to_dict(dsn(source, "reader_env"))
    shown = {key: str(value) for key, value in parameters.items() if key not in SECRET_PARAMETERS}
    return make_conninfo("", **dict(sorted(shown.items())))


def role(source: Definition) -> str:
    """The role that the reader's credential names. Raises Problem when it names none or is unset."""
    found = conninfo_to_dict(dsn(source, "reader_env")).get("user")
    if not found:
        raise Problem(503, "source_unset", f"The credential in {source.body['reader_env']} names no user.")
    return str(found)


def prove_soon(source: Definition) -> None:
    """Have the reads worker prove the credential of a source that was just activated."""
    outbox.enqueue("evidence.tasks.certify_source", "reads", source.pk)
