"""Each tool's SQL, read as the shop's reader, answers in the shape that its contract promises."""

from datetime import UTC, datetime, timedelta

import pytest

from audit import twohands
from evidence import arguments, proof, reader
from gate.demo import definitions, shop

TOOLS = {wanted.name: wanted.body for wanted in definitions.tools()}
NOW = datetime.now(UTC)


def time(ago: timedelta) -> str:
    return (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


def count(kind: str, error: str, ago: timedelta) -> dict:
    return {"error": error, "job_kind": kind, "from": time(ago), "to": time(timedelta(minutes=5))}


QUESTIONS = [
    ("find_job", {"job_id": 90412}),
    ("find_job", {"job_id": 1}),
    ("list_job_attempts", {"job_id": 90433}),
    ("list_job_attempts", {"job_id": 1}),
    ("count_errors", count("settle_payouts", "ReadTimeout", timedelta(hours=4))),
    ("count_errors", count("inventory_sync", "DeadlockDetected", timedelta(hours=3, minutes=20))),
    ("list_recent_deploys", {"since": time(timedelta(hours=12))}),
    ("list_recent_deploys", {"since": time(timedelta(0))}),
    ("get_charge", {"charge_id": "ch_8846"}),
    ("get_charge", {"charge_id": "ch_nobody"}),
    ("list_refunds", {"charge_id": "ch_8841"}),
    ("list_refunds", {"charge_id": "ch_nobody"}),
]


@pytest.fixture
def ask(shop_dsn):
    """The answer of a tool's SQL, as the shop's reader gets it."""

    def answer(name, given):
        body = TOOLS[name]
        assert arguments.misfit(body["input_schema"], given) == ""
        read = reader.read(shop_dsn(shop.READER), body["sql"], [given[name] for name in body["parameters"]])
        assert (read.columns, len(read.rows), read.truncated) == (["result"], 1, False)
        return read.rows[0]["result"]

    yield answer
    reader.close()


@pytest.mark.parametrize(("name", "given"), QUESTIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_answer_fits_its_contract(ask, name, given):
    assert arguments.misfit(TOOLS[name]["output_schema"], ask(name, given)) == ""


def test_a_finished_count_has_looked_at_lines(ask):
    answer = ask("count_errors", count("settle_payouts", "ReadTimeout", timedelta(hours=4)))
    assert (answer["count"], answer["complete"]) == (0, True)
    assert answer["scanned"] > 10_000


def test_errors_that_happened_are_counted(ask):
    answer = ask("count_errors", count("settle_payouts", "ReadTimeout", timedelta(hours=5)))
    assert answer["count"] == 3


def test_without_an_error_every_line_is_counted(ask):
    answer = ask("count_errors", {**count("settle_payouts", "x", timedelta(hours=4)), "error": None})
    assert answer["count"] == answer["scanned"] > 10_000


def test_a_count_that_was_given_up_is_missing_and_not_zero(ask):
    answer = ask("count_errors", count("inventory_sync", "DeadlockDetected", timedelta(hours=3, minutes=20)))
    assert "count" not in answer
    assert answer["complete"] is False


def test_a_job_that_is_not_there_is_null(ask):
    assert ask("find_job", {"job_id": 1}) == {"job": None}


@pytest.mark.parametrize("name", TOOLS)
def test_no_contract_takes_or_gives_a_property_that_it_does_not_name(name):
    body = TOOLS[name]
    for schema in (body["input_schema"], body["output_schema"]):
        assert arguments.misfit(schema, {"surprise": 1}) != ""
        assert schema["additionalProperties"] is False


@pytest.mark.parametrize("moment", ["2026-11-29T02:15:34+01:00", "2026-11-29T02:15:34.5Z", "yesterday", "2026-11-29"])
def test_a_moment_has_one_spelling(moment):
    assert arguments.misfit(TOOLS["list_recent_deploys"]["input_schema"], {"since": moment}) != ""


def test_parameters_are_the_input_properties_in_order():
    for body in TOOLS.values():
        assert body["parameters"] == list(body["input_schema"]["properties"])


@pytest.mark.django_db(transaction=True)
def test_the_shop_earns_its_certificate(define, shop_dsn, monkeypatch):
    monkeypatch.setenv("SHOP_READER_DSN", shop_dsn(shop.READER))
    monkeypatch.setenv("SHOP_DOCTOR_DSN", shop_dsn(shop.DOCTOR))
    source = definitions.source()
    certificate = proof.certify(define("source", source.name, source.body))
    assert [fact for fact in certificate.facts if not fact["holds"]] == []
    assert certificate.holds


@pytest.mark.django_db
def test_every_definition_is_taken(define):
    for wanted in definitions.everything():
        kind = next(kind.name for kind in twohands.KINDS.values() if kind.plural == wanted.plural)
        assert define(kind, wanted.name, wanted.body).status == "active"
