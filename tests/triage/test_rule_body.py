from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from gate.triage.rules import registry


def test_the_printed_body_can_be_activated() -> None:
    printed = StringIO()
    call_command("rule_body", "refund_completed", "1", stdout=printed)
    body = json.loads(printed.getvalue())
    registry.check("refund_completed", body)
    assert registry.find(body) is not None


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandError, match=r"no rule file refund_completed/v99\.py"):
        call_command("rule_body", "refund_completed", "99")
