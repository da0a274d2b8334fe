"""What makes the strongest reader of an account: its policy as JSON, and the doctor's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import simplejson

from audit.models import Definition
from evidence.kinds.cloudwatch import policies


def script(source: Definition) -> Iterator[str]:
    """The reader's policy and the doctor's."""
    body = source.body
    yield f"# The strongest reader of {source.name}: a user or role with this policy and no other. Put the number of"
    yield "# your account in the place of ACCOUNT."
    yield _json(policies.reader_policy(body["region"], "ACCOUNT", body["log_groups"]))
    yield "# logs:StopQuery ends a query that still runs when its time is over; nothing that is kept changes by it."
    yield "# The doctor, another user:"
    yield _json(policies.doctor_policy())
    yield f"# The variables {body['reader_env']} and {body['doctor_env']} hold ACCESS_KEY_ID:SECRET_KEY."


def _json(value: Any) -> str:
    return str(simplejson.dumps(value, indent=2))
