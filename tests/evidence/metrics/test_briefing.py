"""What is told beforehand is chosen by a rule, and what was not chosen is recorded with its reason."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.metrics.briefing import RULE, select
from evidence.metrics.definition import MetricVersion
from tests.evidence.metrics.examples import EXAMPLES

VERSIONS = [MetricVersion.of(name, 1, f"digest of {name}", body) for name, body in EXAMPLES.items()]
SUBJECT = st.dictionaries(
    st.sampled_from(["job_id", "job_kind", "since", "first_minute", "last_minute"]), st.one_of(st.none(), st.text())
)


@given(st.permutations(VERSIONS), SUBJECT, st.integers(0, 5))
def test_everything_available_is_accounted_for_whatever_its_order(versions, subject, most: int) -> None:
    found = select(versions, subject, most)
    assert found == select(VERSIONS, subject, most)
    assert [choice.metric_id for choice in found.choices] == sorted(EXAMPLES)
    fitting = [one for one in found.choices if not one.missing]
    assert found.selected == tuple(fitting[:most])
    assert {one.why for one in fitting[most:]} <= {"over_limit"}


def test_a_metric_that_cannot_be_asked_about_the_subject_says_what_is_missing() -> None:
    found = select(VERSIONS, {"job_id": "j1", "first_minute": 0})
    assert (found.rule, [one.metric_id for one in found.selected]) == (RULE, ["queue_wait"])
    burn = next(one for one in found.choices if one.metric_id == "error_budget_burn")
    assert (burn.is_selected, burn.why, burn.missing) == (False, "not_of_subject", ("last_minute",))
    assert burn.digest == "digest of error_budget_burn"
