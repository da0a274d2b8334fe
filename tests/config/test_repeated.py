"""Whatever keeps JSON says what becomes of it when an entry that it repeats is redacted."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import JSONField

# What a redaction clears, by the function that does.
CLEARED = {
    "evidence_clear_copies": {"evidence_metricask"},
    "admission_clear_copies": {"admission_answerask", "admission_answerlabel"},
    "triage_clear_copies": {
        "triage_examination", "triage_trial", "triage_flip", "triage_shadowresult", "triage_trace",
        "triage_investigation", "triage_draft",
    },
}  # fmt: skip
# What was approved, or briefs agents: it stays, and the page of a redaction names it.
NAMED = {
    "triage_incident", "writes_writerequest", "writes_edition", "writes_admission", "writes_preview",
    "writes_firstlook", "writes_decision", "writes_execution",
}  # fmt: skip
# What repeats nothing that an agent or a source said.
OF_ITS_OWN = {
    "audit_agenttoken", "audit_definition", "audit_link", "audit_verification", "evidence_certificate", "people_key",
    "people_keychallenge", "writes_canary", "writes_offeredstatement",
}  # fmt: skip


def test_every_table_with_json_says_what_becomes_of_it() -> None:
    ours = [model for model in apps.get_models() if model.__module__.split(".")[0] in ("audit", "evidence", "gate")]
    found = {
        model._meta.db_table for model in ours if any(isinstance(one, JSONField) for one in model._meta.get_fields())
    }
    assert found == set.union(*CLEARED.values(), NAMED, OF_ITS_OWN)


@pytest.mark.django_db
@pytest.mark.parametrize("function", CLEARED)
def test_the_function_that_clears_them_knows_them(function: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select prosrc from pg_proc where proname = %s", [function])
        (source,) = cursor.fetchone()
    assert {table for table in CLEARED[function] if f"public.{table}" not in source} == set()
