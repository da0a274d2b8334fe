"""The registry: what a metric's version has to be and to have shown before two people put it in force."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit import twohands
from audit.models import Definition, Outbox
from audit.refusing import NotAllowed, why_not
from evidence import metric_asks
from evidence.kinds import KINDS
from evidence.metrics import checking, columns, lint, registry, trace
from evidence.metrics.simulations import MODELS
from evidence.metrics.units import UNITS
from evidence.models import MetricAsk
from tests.earned import as_golden
from tests.evidence import bodies
from tests.evidence.metrics import examples

COST = examples.FAILED_JOB_COST
PRICED = {**COST, "valuation": "prices@1"}
Make = Callable[..., Any]


@pytest.fixture
def drafted(shop: Definition, ada: Any) -> Definition:
    return twohands.draft("metric", "failed_job_cost", PRICED, by=ada, reason="for a test")


# What may be drafted


def test_the_worked_examples_are_put_in_force(shop: Definition, define: Make) -> None:
    for metric_id, body in examples.EXAMPLES.items():
        priced = {**body, "valuation": "prices@1"} if body["valuation"] else body
        version = define("metric", metric_id, priced)
        assert registry.active(metric_id) == registry.of(version)
    assert [one.metric_id for one in registry.all_active()] == sorted(examples.EXAMPLES)


def formula(old: str, new: str) -> dict[str, Any]:
    """The formula with one thing in it written otherwise."""
    assert old in PRICED["formula"]
    return {"formula": PRICED["formula"].replace(old, new)}


WASTED = "'wasted_compute' as kind"
VERDICT = "exists (select 1 from vis_verdict v where v.recorded_at <= :decision_point)"
# One definition of each sort of policy, and what the sentence says to write instead.
POLICIES: list[tuple[str, dict[str, Any], str]] = [
    ("words", {"title": "Jobs that should be retried"}, "name what is counted"),
    (
        "consequence",
        formula(WASTED, "case when d.seconds > 30 then 'page' else 'wasted_compute' end as kind"),
        "names the consequence",
    ),
    ("weight", formula("d.seconds as quantity", "d.seconds * 3 as quantity"), "without a unit"),
    ("ranking", {"formula": PRICED["formula"] + "\norder by quantity desc limit 3"}, "ranks"),
    ("label", formula("d.outcome = 'failed'", f"d.outcome = 'failed' and {VERDICT}"), "held out"),
    ("agent_parameter", formula("d.n = k.max_attempts", "d.n = :max_attempts"), "let the caller change"),
    ("free_text", formula(WASTED, "'time that nobody wanted' as kind"), "free text"),
    ("direction", {"higher_is_worse": True}, "which way is better"),
    ("unversioned", {"golden": []}, "leaves open"),
]


def test_a_policy_is_refused_when_it_is_drafted_with_a_sentence(ada: Any) -> None:
    for code, said, words in POLICIES:
        with pytest.raises(ValueError, match=words) as refused:
            twohands.draft("metric", "failed_job_cost", {**PRICED, **said}, by=ada, reason="for a test")
        assert code in [flaw.code for flaw in lint.flaws("failed_job_cost", {**PRICED, **said})]
        assert str(refused.value).endswith(".")
    assert not Definition.objects.filter(kind="metric").exists()


# With its names taken away, what a definition computes still tells what to do.
NAMELESS = ("consequence", "weight", "ranking", "agent_parameter", "direction", "unversioned")
MEANT = frozenset().union(
    *columns.NEEDED.values(), columns.FLAGS, columns.TICKS, {columns.ENTITY, "recorded_at"}, trace.NEEDED, UNITS,
    *(model.needed | model.possible for model in MODELS.values()),
)  # fmt: skip


def nameless(body: dict[str, Any]) -> dict[str, Any]:
    """The body with each name that it made up written as x1, x2, …; those that have a meaning stay."""
    own = [part for field in body["source_fields"] for part in field.split(".")] + list(body["scope"])
    own += [name for one in body["decomposers"] for name in [one["name"], *one.get("kinds", [])]]
    names = {name: f"x{number}" for number, name in enumerate(dict.fromkeys(own)) if name not in MEANT}

    def rename(value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(r"(?<![:A-Za-z0-9_])(vis_)?(\w+)", lambda m: (m[1] or "") + names.get(m[2], m[2]), value)
        if isinstance(value, list):
            return [rename(one) for one in value]
        return {rename(key): rename(one) for key, one in value.items()} if isinstance(value, dict) else value

    computed = ("formula", "source_fields", "scope", "parameters", "trace_hook")
    renamed = {key: rename(body[key]) for key in computed}
    renamed["decomposers"] = [{key: rename(value) for key, value in one.items()} for one in body["decomposers"]]
    variables = [
        {**one, "rows": rename(one["rows"]), "factual": rename(one["factual"]), "variable": "x"}
        for one in body["supported_counterfactuals"]
    ]
    golden_values = [{**one, "scope": rename(one["scope"])} for one in body["golden"]]
    said = {"title": "x", "limitations": ["x"], "supported_counterfactuals": variables, "golden": golden_values}
    return {**body, **renamed, **said}


@pytest.mark.parametrize("metric_id", examples.EXAMPLES)
def test_an_example_is_a_metric_whatever_its_names_are(metric_id: str) -> None:
    body = nameless(examples.EXAMPLES[metric_id])
    assert "error_class" not in body["formula"]
    checking.check("x0", body)


@pytest.mark.parametrize(("code", "said"), [(code, said) for code, said, _ in POLICIES if code in NAMELESS])
def test_what_computes_a_policy_is_one_whatever_its_names_are(code: str, said: dict[str, Any]) -> None:
    body = {**nameless({**PRICED, **said}), **{key: value for key, value in said.items() if key != "formula"}}
    assert code in [flaw.code for flaw in lint.flaws("x0", body)]


NOT_THERE: list[tuple[dict[str, Any], str]] = [
    ({"source": "nowhere"}, "There is no source nowhere"),
    ({"valuation": "prices@2"}, "prices@2 was never put in force"),
    ({"valuation": "costs@1"}, "costs@1 was never put in force"),
    ({"golden": [{**COST["golden"][0], "decision_point": "400"}]}, "400 is none"),
    ({"golden": [{**COST["golden"][0], "decision_point": "2026-05-01T00:06:40"}]}, "with its zone"),
    ({"golden": [{**COST["golden"][0], "decision_point": "0001-01-01T00:00:00+14:00"}]}, "is none"),
    ({"golden": [{**COST["golden"][0], "decision_point": "9999-05-01T00:06:40Z"}]}, "is not over yet"),
    (formula("from vis_attempt a", "from other.vis_attempt a"), "schema shop_read; not other"),
]


def test_what_is_not_there_makes_no_metric(shop: Definition) -> None:
    registry.check_metric("failed_job_cost", {**PRICED, **formula("from vis_job j", "from shop_read.vis_job j")})
    for said, words in NOT_THERE:
        with pytest.raises(ValueError, match=words):
            registry.check_metric("failed_job_cost", {**PRICED, **said})


def test_a_source_of_another_kind_has_no_formulas(define: Make) -> None:
    define("source", "elsewhere", dict(KINDS["prometheus"].source_example))
    with pytest.raises(ValueError, match="a statement for postgresql"):
        registry.check_metric("queue_wait", {**examples.QUEUE_WAIT, "source": "elsewhere"})


# Prices


def test_a_new_price_changes_no_metric_that_is_in_force(shop: Definition, define: Make) -> None:
    define("metric", "failed_job_cost", PRICED)
    dearer = examples.PRICES["prices"] | {
        "permanent_loss": {**examples.PRICES["prices"]["permanent_loss"], "price": "90"}
    }
    define("valuation", "prices", {**examples.PRICES, "prices": dearer})
    version = registry.active("failed_job_cost")
    assert version is not None
    found = registry.valuation_of(version)
    assert found is not None
    assert (found.label, found.prices["permanent_loss"].amount) == ("prices@1", 25)


def test_prices_that_nobody_put_in_force_price_nothing(shop: Definition, ada: Any) -> None:
    twohands.draft("valuation", "drafted", examples.PRICES, by=ada, reason="for a test")
    with pytest.raises(ValueError, match="never put in force"):
        registry.check_metric("failed_job_cost", {**PRICED, "valuation": "drafted@1"})


def test_a_price_without_an_owner_or_a_day_of_review_is_none() -> None:
    registry.check_valuation("prices", examples.PRICES)
    for missing in ("owner", "review_by"):
        body = {key: value for key, value in examples.PRICES.items() if key != missing}
        with pytest.raises(ValueError, match=missing):
            registry.check_valuation("prices", body)


# Golden values


def run(version: Definition, by: Any, **changes: Any) -> MetricAsk:
    """A run of the golden values, with its first line as a test wants it."""
    asked = as_golden(version, by)
    asked.answer["golden"][0] |= changes  # type: ignore[index]
    asked.save()
    return asked


def refusal(version: Definition, by: Any) -> str:
    return why_not(lambda: twohands.check_can_activate(version, by))


def test_a_version_is_put_in_force_by_another_once_its_golden_values_hold(
    drafted: Definition, ada: Any, mia: Any
) -> None:
    assert "have not been run" in refusal(drafted, mia)
    with pytest.raises(NotAllowed, match="have not been run"):
        twohands.activate(drafted.pk, by=mia)
    as_golden(drafted, ada)
    assert twohands.activate(drafted.pk, by=mia).status == "active"


def test_one_hand_is_not_enough_however_golden(drafted: Definition, ada: Any, mia: Any) -> None:
    as_golden(drafted, ada)
    with pytest.raises(NotAllowed, match="someone else must activate"):
        twohands.activate(drafted.pk, by=ada)
    assert registry.active("failed_job_cost") is None


def test_who_is_the_only_admin_is_recorded_as_solo_and_earns_it_too(
    db: None, drafted: Definition, ada: Any, django_user_model: Any
) -> None:
    django_user_model.objects.exclude(pk=ada.pk).update(is_active=False)
    with pytest.raises(NotAllowed, match="have not been run"):
        twohands.activate(drafted.pk, by=ada)
    as_golden(drafted, ada)
    assert twohands.activate(drafted.pk, by=ada).solo


def test_a_changed_formula_has_to_show_its_golden_values_anew(drafted: Definition, ada: Any, mia: Any) -> None:
    as_golden(drafted, ada)
    twohands.activate(drafted.pk, by=mia)
    changed = {**PRICED, **formula("d.outcome = 'succeeded'\nunion", "d.outcome = 'succeeded' and d.n > 0\nunion")}
    newer = twohands.draft("metric", "failed_job_cost", changed, by=ada, reason="for a test")
    with pytest.raises(NotAllowed, match="have not been run"):
        twohands.activate(newer.pk, by=mia)
    # Nor do those of another version count when they are written under this one.
    MetricAsk.objects.update(version=newer)
    with pytest.raises(NotAllowed, match="have not been run"):
        twohands.activate(newer.pk, by=mia)


def test_only_the_newest_run_counts(drafted: Definition, ada: Any, mia: Any) -> None:
    as_golden(drafted, ada)
    run(drafted, ada, matches=False, found="27", found_status="resolved")
    assert refusal(drafted, mia) == (
        "A golden value does not hold, so this version is not put in force. jobs at 2026-05-01T00:06:40Z gives 27 "
        "(resolved); the golden value is 28.33 (resolved)."
    )
    as_golden(drafted, ada)
    assert refusal(drafted, mia) == ""


NOT_WHOLE: list[tuple[dict[str, Any], str]] = [
    ({"answered_at": None, "answer": None}, "are being run"),
    ({"answer": None, "problem": "The source shop is not in force."}, "The source shop is not in force."),
    ({"answer": {"golden": []}}, "Not every golden value was run"),
]


def test_what_another_source_gave_shows_nothing_of_the_one_in_force_now(
    drafted: Definition, ada: Any, mia: Any, define: Make
) -> None:
    as_golden(drafted, ada)
    define("source", "shop", bodies.source(schema="other_read"))
    assert refusal(drafted, mia) == (
        "The source shop was put in force anew after the golden values were run; run them again."
    )
    as_golden(drafted, ada)
    assert refusal(drafted, mia) == ""


def test_a_run_that_is_not_whole_shows_nothing(drafted: Definition, ada: Any, mia: Any) -> None:
    for changes, words in NOT_WHOLE:
        MetricAsk.objects.filter(pk=as_golden(drafted, ada).pk).update(**changes)
        assert words in refusal(drafted, mia)


def test_a_golden_value_that_could_not_be_read_says_why(drafted: Definition, ada: Any, mia: Any) -> None:
    run(drafted, ada, matches=False, problem="No connection to the source.")
    assert "could not be read: No connection to the source." in refusal(drafted, mia)


# Asking


def test_a_question_is_put_with_its_job_in_one_transaction(drafted: Definition, ada: Any) -> None:
    asked = metric_asks.ask(drafted, "golden", {}, by=ada)
    assert (asked.digest, asked.decision_point, asked.answer, asked.is_answered) == (drafted.digest, None, None, False)
    assert (asked.actor.kind, asked.actor.name, asked.actor.principal) == ("person", "First-Hand", "first-hand")
    assert Outbox.objects.filter(task=metric_asks.TASK, queue="reads", subject_id=asked.pk).count() == 1


def test_numbers_of_a_question_keep_every_digit(drafted: Definition, ada: Any) -> None:
    asked = metric_asks.ask(drafted, "explain", {"scope": {"least": Decimal("0.10000000000000000001")}}, by=ada)
    assert asked.arguments == {"scope": {"least": Decimal("0.10000000000000000001")}}
    assert asked.decision_point is not None


def test_who_changes_no_definitions_runs_no_golden_values(drafted: Definition, make_person: Make) -> None:
    viewer = make_person("vera", "viewer")
    with pytest.raises(NotAllowed, match="ask an admin"):
        metric_asks.ask(drafted, "golden", {}, by=viewer)
    metric_asks.ask(drafted, "explain", {"scope": {}}, by=viewer)


def test_the_worker_is_shared_so_questions_have_an_end(drafted: Definition, ada: Any, mia: Any) -> None:
    for _ in range(metric_asks.MOST_WAITING):
        metric_asks.ask(drafted, "explain", {"scope": {}}, by=ada)
    with pytest.raises(NotAllowed, match="look at their answers first"):
        metric_asks.ask(drafted, "explain", {"scope": {}}, by=ada)
    metric_asks.ask(drafted, "explain", {"scope": {}}, by=mia)
    # Nobody is kept from asking for ever by questions that no worker came to answer.
    MetricAsk.objects.update(asked_at=timezone.now() - metric_asks.WAITS)
    metric_asks.ask(drafted, "explain", {"scope": {}}, by=ada)


def test_who_asks_cannot_answer(db: None) -> None:
    """By grant: the database itself keeps people's plane from saying that a golden value holds."""
    asked = "select has_column_privilege('counterseal_' || %s, 'evidence_metricask', %s, %s)"
    with connection.cursor() as cursor:
        for role, column, right, granted in (
            ("people", "arguments", "INSERT", True),
            ("people", "answer", "INSERT", False),
            ("people", "answer", "UPDATE", False),
            ("people", "answered_at", "INSERT", False),
            ("reads", "answer", "UPDATE", True),
            ("reads", "arguments", "UPDATE", False),
            ("agents", "answer", "SELECT", False),
        ):
            cursor.execute(asked, [role, column, right])
            assert cursor.fetchone() == (granted,), (role, column, right)
