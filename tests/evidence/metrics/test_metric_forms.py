"""The form of a metric: it says everything that a version says, reads back what it wrote, and finds policies early."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from audit.models import Definition
from evidence import metric_lines
from evidence.metric_form_rows import VariableForm
from evidence.metric_forms import PAIRED, PLAIN, ROWS, MetricForm, initial_of
from evidence.metrics import definition
from tests.evidence.metrics import examples

WORD = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
SCOPED = st.text() | st.integers() | st.booleans()


def typed(body: dict[str, Any], **changes: str) -> dict[str, str]:
    """What somebody types to say a body."""
    said = initial_of(body)
    rows = {"golden": said.pop("golden"), "variable": said.pop("supported_counterfactuals")}
    posted = {"name": "failed_job_cost", "reason": "It is needed.", **said}
    for prefix, found in rows.items():
        posted |= {f"{prefix}-TOTAL_FORMS": str(len(found) + 1), f"{prefix}-INITIAL_FORMS": str(len(found))}
        posted |= {f"{prefix}-{number}-{key}": value for number, one in enumerate(found) for key, value in one.items()}
    posted[f"golden-{len(rows['golden'])}-status"] = "resolved"
    return {**posted, **changes}


def test_the_form_says_everything_that_a_version_says() -> None:
    said = {*PLAIN, *PAIRED, *ROWS, "decomposers", "valuation", "trace_hook", "null_policy"}
    assert said == definition.KEYS
    asked = {*said, "name", "reason", "still_open"} - {*ROWS, "null_policy"}
    assert set(MetricForm.base_fields) == asked


@given(st.dictionaries(WORD, SCOPED, max_size=4))
def test_a_scope_is_read_back_as_it_was_written(scope: dict[str, Any]) -> None:
    found = metric_lines.values(metric_lines.of_values(scope))
    assert found == scope
    assert [type(value) for value in found.values()] == [type(value) for value in scope.values()]


def test_what_is_typed_is_what_is_drafted(shop: Definition) -> None:
    for metric_id, example in examples.EXAMPLES.items():
        body = {**example, "valuation": "prices@1"} if example["valuation"] else example
        form = MetricForm(typed(body, name=metric_id))
        assert form.is_valid(), (form.errors, form.goldens.errors, form.variables.errors)
        assert form.body() == body
        assert (form.findings(), form.why_not()) == ([], "")


POLICIES: list[tuple[dict[str, str], str, str]] = [
    ({"title": "Jobs that should be retried"}, "What it is", "should"),
    ({"name": "worst_jobs"}, "Name", "worst"),
    ({"formula": examples.FAILED_JOB_COST["formula"] + "limit 3"}, "Formula", "ranks"),
    ({"scope": "job_kind: text\nprice: text"}, "Scope", "let the caller change"),
    ({"golden-0-fixture": "", "golden-1-fixture": ""}, "Golden values", "leaves open"),
    ({"owner": ""}, "Owner", "leaves open"),
    ({"decomposers": "by_priority: partition by entity"}, "Decompositions", "priority"),
    ({"variable-0-held_fixed": "the best slots"}, "What may be set otherwise", "best"),
]


def test_a_policy_is_found_while_it_is_typed(shop: Definition) -> None:
    for changes, label, words in POLICIES:
        form = MetricForm(typed({**examples.FAILED_JOB_COST, "valuation": None}, **changes))
        found = [(one.label, one.flaw.advice) for one in form.findings()]
        assert any(label == where and words in advice for where, advice in found), (changes, found)


def test_half_a_metric_is_read_as_far_as_it_goes(shop: Definition) -> None:
    form = MetricForm({"name": "x", "scope": "no colon", "decomposers": "?", "formula": "selec"})
    assert [one.label for one in form.findings()] == ["Golden values", "Owner"]
    assert form.why_not() == ""
    assert not form.is_valid()


def test_what_cannot_be_read_is_said_beside_its_field(shop: Definition) -> None:
    for field, said, words in (
        ("scope", "job_kind", "a colon and what it is"),
        ("scope", "a: text\na: key", "stands twice"),
        ("decomposers", "by_kind additive", "by_kind: additive of"),
        ("valuation", "prices@9", "not one of the available choices"),
    ):
        form = MetricForm(typed({**examples.FAILED_JOB_COST, "valuation": "prices@1"}, **{field: said}))
        assert not form.is_valid()
        assert words in str(form.errors[field])


def test_a_row_that_is_emptied_is_taken_away(shop: Definition) -> None:
    emptied = {f"variable-0-{key}": "" for key in VariableForm.base_fields}
    form = MetricForm(typed(examples.QUEUE_WAIT, **emptied))
    assert form.is_valid()
    assert form.body() == {**examples.QUEUE_WAIT, "supported_counterfactuals": []}


def test_a_golden_value_that_is_half_typed_is_no_golden_value(shop: Definition) -> None:
    form = MetricForm(typed({**examples.QUEUE_WAIT}, **{"golden-1-fixture": "another", "golden-1-scope": "job_id"}))
    assert not form.is_valid()
    assert "an equals sign" in str(form.goldens.errors)
