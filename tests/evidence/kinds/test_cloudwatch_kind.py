"""CloudWatch as a kind: what is sent, what a rule's readers read of it, and what the proof sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.stub import Stubber

from evidence import layers
from evidence.bounds import Limits
from evidence.errors import Problem, Refused
from evidence.kinds import moments
from evidence.kinds.cloudwatch import amazon, keys, kind, native, operations, policies, proof, role, running
from evidence.kinds.cloudwatch.kind import CloudWatch
from gate.triage.readers.cloudwatch_alarms import CloudwatchAlarms
from gate.triage.readers.cloudwatch_metrics import MetricData
from gate.triage.readers.insights import InsightsResults
from gate.triage.readers.rds_events import RdsEvents
from tests.evidence.kinds import http_server
from tests.evidence.kinds import native as bare
from tests.evidence.kinds.http_server import Server, whole
from tests.evidence.kinds.test_cloudwatch_asking import request

KIND = CloudWatch()
LIMITS = Limits(seconds=5)
AT = datetime(2026, 3, 28, 15, 0, tzinfo=UTC)
RECENT = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)  # samples of a minute are kept for days
READER, DOCTOR = "AKIAREADER:reader/secret+", "AKIADOCTOR:doctor-secret:doctor-token"
BODY = {
    "kind": "cloudwatch", "region": "eu-west-1", "reader_env": "CLOUD_READER_TOKEN", "doctor_env": "CLOUD_DOCTOR_TOKEN",
    "environment": "production", "log_groups": ["/aws/lambda/resize", "LOGGROUPNAME"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUD_READER_TOKEN", READER)
    monkeypatch.setenv("CLOUD_DOCTOR_TOKEN", DOCTOR)


@pytest.fixture
def stubs() -> Iterator[dict[str, Stubber]]:
    """Clients of the reader (and for iam, of the doctor) that answer what a test wrote down, and nothing else."""
    found = {}
    for service in ("cloudwatch", "logs", "rds"):
        found[service] = Stubber(amazon.client(service, "eu-west-1", keys.Key("AKIAREADER", "reader/secret+"), 5))
    for stub in found.values():
        stub.activate()
    yield found
    for stub in found.values():
        stub.assert_no_pending_responses()
        stub.deactivate()


def read(name: str, given: dict[str, Any], said: dict[str, Any] | None = None, **changes: Any) -> Any:
    return KIND.read(bare.source({**BODY, **changes}), bare.contract(said or request(name)), given, LIMITS)


def test_its_own_examples_are_taken() -> None:
    KIND.check_source("mycloud", KIND.source_example)
    KIND.check_tool("list_events", {"input_schema": bare.schema("job_id"), **KIND.tool_example})


ALARM = {
    "AlarmName": "a", "AlarmArn": "arn:aws:cloudwatch:eu-west-1:1:alarm:a", "StateValue": "OK", "Threshold": 5.0,
    "StateReason": "Threshold Crossed: 1 datapoint [0.1] was not greater.", "MetricName": "Errors",
    "Namespace": "AWS/Lambda", "Dimensions": [{"Name": "FunctionName", "Value": "checkout"}],
    "StateUpdatedTimestamp": AT,
}  # fmt: skip


def test_alarms_are_described_and_their_reader_reads_them(stubs: dict[str, Stubber]) -> None:
    stubs["cloudwatch"].add_response(
        "describe_alarms", {"MetricAlarms": [ALARM], "CompositeAlarms": []}, {"AlarmNames": ["a"]}
    )
    given = {"AlarmNames": ["a"], "region": "eu-west-1"}
    found = read("DescribeAlarms", given)
    assert found.incomplete == ()
    assert found.result["MetricAlarms"][0]["StateUpdatedTimestamp"] == "2026-03-28T15:00:00Z"
    assert found.result["MetricAlarms"][0]["Threshold"] == Decimal("5.0")
    seen = CloudwatchAlarms(bare.recorded("cloudwatch_describe_alarms", given, found.result))
    (place,) = seen.places()
    assert (seen.complete(), seen.name(place), seen.state(place)) == (True, "a", "OK")
    assert seen.asked_names() == ("a",)


FLAT = {
    "Namespace": "AWS/RDS", "MetricName": "FreeStorageSpace", "Stat": "Minimum", "Period": 60,
    "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": "orders-prod"}],
    "StartTime": moments.spelled(RECENT), "EndTime": moments.spelled(RECENT + timedelta(minutes=20)),
}  # fmt: skip
FLAT_REQUEST = {
    "operation": "GetMetricData",
    "parameters": {
        "MetricDataQueries": [{"Id": "m1", "MetricStat": {
            "Metric": {key: {"argument": key} for key in ("Namespace", "MetricName", "Dimensions")},
            "Period": {"argument": "Period"}, "Stat": {"argument": "Stat"},
        }}],
        "StartTime": {"argument": "StartTime"}, "EndTime": {"argument": "EndTime"},
    },
}  # fmt: skip
NATIVE = {
    "MetricDataQueries": [{"Id": "m1", "MetricStat": {
        "Metric": {key: FLAT[key] for key in ("Namespace", "MetricName", "Dimensions")}, "Period": 60,
        "Stat": "Minimum",
    }}],
    "StartTime": FLAT["StartTime"], "EndTime": FLAT["EndTime"],
}  # fmt: skip


@pytest.mark.parametrize("shape", ["flat", "native"])
def test_a_metric_is_read_in_both_shapes_and_its_reader_reads_it(stubs: dict[str, Stubber], shape: str) -> None:
    given, said = (FLAT, FLAT_REQUEST) if shape == "flat" else (NATIVE, request("GetMetricData"))
    answer = {
        "MetricDataResults": [{"Id": "m1", "Label": "FreeStorageSpace", "Values": [0.1, 214748364800.0],
                               "Timestamps": [RECENT + timedelta(minutes=1), RECENT], "StatusCode": "Complete"}],
        "Messages": [],
    }  # fmt: skip
    sent = {**NATIVE, "StartTime": RECENT, "EndTime": RECENT + timedelta(minutes=20)}
    stubs["cloudwatch"].add_response("get_metric_data", answer, sent)
    found = read("GetMetricData", given, said)
    assert (found.incomplete, found.result["MetricDataResults"][0]["Values"][0]) == ((), Decimal("0.1"))
    seen = MetricData(bare.recorded("cloudwatch_get_metric_data", given, found.result))
    assert seen.complete() is True
    assert [(one.at, one.value) for one in seen.samples(0)] == [
        (RECENT, Decimal(214748364800)), (RECENT + timedelta(minutes=1), Decimal("0.1")),
    ]  # fmt: skip
    assert seen.labels(0) == {"DBInstanceIdentifier": "orders-prod"}


def test_a_metric_that_is_partial_says_so(stubs: dict[str, Stubber]) -> None:
    result = {"Id": "m1", "Label": "x", "Timestamps": [], "Values": [], "StatusCode": "PartialData"}
    stubs["cloudwatch"].add_response("get_metric_data", {"MetricDataResults": [result], "NextToken": "x"})
    assert read("GetMetricData", NATIVE).incomplete == ("next_page", "partial_data")


ASKED = {
    "logGroupName": "LOGGROUPNAME", "startTime": "2020-05-18T06:00:00Z", "endTime": "2020-05-18T12:05:00Z",
    "queryString": "fields @message | filter @message like /ERROR/", "limit": 10_000,
}  # fmt: skip
RUNNING = {"results": [], "statistics": {"recordsMatched": 0.0, "recordsScanned": 0.0}, "status": "Running"}
COMPLETE = {"results": [], "statistics": {"recordsMatched": 0.0, "recordsScanned": 18231.0}, "status": "Complete"}


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PAUSES", (0.0,))


def started(stub: Stubber, *results: dict[str, Any]) -> None:
    sent = {"logGroupName": "LOGGROUPNAME", "queryString": ASKED["queryString"], "startTime": 1589781600,
            "endTime": 1589803500, "limit": 1000}  # fmt: skip
    stub.add_response("start_query", {"queryId": "q"}, sent)
    for result in results:
        stub.add_response("get_query_results", result, {"queryId": "q"})


@pytest.mark.usefixtures("no_pauses")
def test_a_query_is_started_once_and_looked_at_until_it_is_done(stubs: dict[str, Stubber]) -> None:
    started(stubs["logs"], {**RUNNING, "status": "Scheduled"}, RUNNING, COMPLETE)
    found = read("StartQuery", ASKED)
    assert (found.result, found.incomplete) == (native.answer(COMPLETE), ())
    seen = InsightsResults(bare.recorded("cloudwatch_get_query_results", ASKED, found.result))
    assert (seen.complete(), seen.found(), seen.scanned()) == (True, 0, 18231)
    assert ("log_group", "LOGGROUPNAME") in seen.asked().selector


STOPPED = {"success": True}


@pytest.mark.parametrize(
    ("answer", "goes_on"),
    [(STOPPED, False), ({"success": False}, True), ({}, True), ("InvalidParameterException", False),
     ("AccessDeniedException", True), ("ThrottlingException", True)],
)  # fmt: skip
@pytest.mark.parametrize("status", running.UNFINISHED)
def test_a_query_that_runs_when_the_time_is_over_is_stopped_and_not_whole(
    stubs: dict[str, Stubber], monkeypatch: pytest.MonkeyPatch, answer: Any, goes_on: bool, status: str
) -> None:
    monkeypatch.setattr(running, "PAUSES", (0.01,))
    started(stubs["logs"], {**RUNNING, "status": status})
    stopping(stubs["logs"], answer)
    found = read("StartQuery", ASKED, query_seconds=0.005)
    codes = ("not_finished", "nothing_scanned", *(["not_stopped"] if goes_on else []))
    assert (found.result["status"], found.incomplete) == (status, codes)


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("answer", [STOPPED, "AccessDeniedException"])
def test_a_query_that_cannot_be_looked_at_is_stopped_all_the_same(stubs: dict[str, Stubber], answer: Any) -> None:
    started(stubs["logs"], RUNNING)
    stubs["logs"].add_client_error("get_query_results", "ThrottlingException", "slowly", 400)
    stopping(stubs["logs"], answer)
    with pytest.raises(Refused, match="ThrottlingException: slowly"):
        read("StartQuery", ASKED)


def stopping(stub: Stubber, answer: Any) -> None:
    """It is this very query that is stopped, whatever comes of it."""
    if isinstance(answer, str):
        stub.add_client_error("stop_query", answer, "no", 400, expected_params={"queryId": "q"})
    else:
        stub.add_response("stop_query", answer, {"queryId": "q"})


def test_stopping_is_granted_named_and_no_tools_to_ask_for() -> None:
    assert "logs:StopQuery" in policies.NEEDED
    assert "StopQuery" not in operations.OPERATIONS
    script = "\n".join(role.script(bare.source(BODY)))
    assert '"logs:StopQuery"' in script
    assert "logs:StopQuery ends a query" in script
    (granted,) = policies.of_policies([policies.reader_policy("eu-west-1", "1", ["a"])], ["a"])[2:3]
    assert (granted.fact, granted.holds) == ("actions", True)
    listing = policies.of_policies([{"Statement": [{"Effect": "Allow", "Action": "logs:DescribeQueries",
                                                   "Resource": "*"}]}], ["a"])  # fmt: skip
    lost = [{"fact": one.fact, "holds": one.holds} for one in listing]
    whole = [{**one, "holds": True} for one in lost]
    named = "Stopping queries of others, by numbers that are listed to whoever may see them"
    assert dict(layers.report(KIND.attacks, whole))[named] == layers.CREDENTIAL
    assert dict(layers.report(KIND.attacks, lost))[named] == kind.OWN
    assert "stops_queries" in [note.fact for note in proof.NOTES]


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("status", ["Failed", "Cancelled", "Timeout", "Unknown"])
def test_a_query_that_did_not_end_well_is_not_started_anew(stubs: dict[str, Stubber], status: str) -> None:
    started(stubs["logs"], {**COMPLETE, "status": status})
    assert read("StartQuery", ASKED).incomplete == ("not_finished",)


def test_events_of_a_log_are_filtered(stubs: dict[str, Stubber]) -> None:
    answer = {"events": [{"message": "a", "timestamp": 1}], "searchedLogStreams": []}
    sent = {"logGroupName": "LOGGROUPNAME", "startTime": 1589781600000, "endTime": 1589803500000, "limit": 1000}
    stubs["logs"].add_response("filter_log_events", answer, sent)
    given = {key: ASKED[key] for key in ("logGroupName", "startTime", "endTime")}
    found = read("FilterLogEvents", given)
    assert (found.result, found.incomplete) == (answer, ())


def test_events_of_a_database_are_described_and_their_reader_reads_them(stubs: dict[str, Stubber]) -> None:
    event = {"SourceIdentifier": "orders-prod", "SourceType": "db-instance", "Date": AT,
             "EventCategories": ["configuration change"],
             "Message": "Finished applying autoscaling-initiated modification to allocated storage."}  # fmt: skip
    stubs["rds"].add_response(
        "describe_events", {"Events": [event]}, {"SourceIdentifier": "orders-prod", "Duration": 60}
    )
    given = {"SourceIdentifier": "orders-prod", "Duration": 60}
    found = read("DescribeEvents", given)
    assert found.incomplete == ()
    seen = RdsEvents(bare.recorded("rds_describe_events", given, found.result))
    assert (seen.complete(), seen.date(0), seen.says_scaled(0)) == (True, AT, True)


@pytest.mark.parametrize(
    ("code", "expected"), [("ResourceNotFoundException", "aws_error"), ("MalformedQueryException", "parameters")]
)
def test_an_error_is_told_in_the_services_words_without_the_credential(
    stubs: dict[str, Stubber], code: str, expected: str
) -> None:
    stubs["logs"].add_client_error("start_query", code, "no such thing, and reader/secret+", 400)
    with pytest.raises(Refused, match=r"no such thing, and \[masked\]") as refused:
        read("StartQuery", ASKED)
    assert refused.value.code == expected


def test_an_answer_that_is_too_large_is_kept_out(stubs: dict[str, Stubber]) -> None:
    stubs["logs"].add_response("filter_log_events", {"events": [{"message": "x" * 2_000}]})
    given = {key: ASKED[key] for key in ("logGroupName", "startTime", "endTime")}
    small = Limits(bytes=1_000, seconds=5)
    with pytest.raises(Refused, match="larger than 1,000 bytes"):
        KIND.read(bare.source(BODY), bare.contract(request("FilterLogEvents")), given, small)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), b"x", object()])
def test_what_json_cannot_say_is_kept_out(number: Any) -> None:
    with pytest.raises(Refused, match="kept out"):
        native.answer({"a": [{"b": number}]})


# The client.


@pytest.fixture
def ambient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine full of settings that must not count."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIAAMBIENT", "AWS_SECRET_ACCESS_KEY": "x", "AWS_PROFILE": "missing",
        "AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere", "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "9", "AWS_RETRY_MODE": "adaptive",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ENDPOINT_URL_LOGS": "http://127.0.0.1:9",
        "AWS_USE_FIPS_ENDPOINT": "true", "AWS_USE_DUALSTACK_ENDPOINT": "true",
        "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9",
        "AWS_CA_BUNDLE": "/nowhere", "REQUESTS_CA_BUNDLE": "/nowhere", "AWS_DATA_PATH": "/nowhere",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    amazon._made.cache_clear()
    yield
    amazon._made.cache_clear()


@pytest.fixture
def cloud(ambient: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server in Amazon's place."""
    with http_server.running() as server:
        monkeypatch.setattr(amazon, "_endpoint", lambda service: server.url)
        yield server


@pytest.mark.usefixtures("ambient")
@pytest.mark.parametrize(("region", "end"), [("eu-west-1", "amazonaws.com"), ("cn-north-1", "amazonaws.com.cn")])
def test_the_host_follows_from_the_region_alone(region: str, end: str) -> None:
    found = amazon.client("logs", region, keys.Key("AKIAREADER", "x"), 5)
    assert found.meta.endpoint_url == f"https://logs.{region}.{end}"


GIVEN = {key: ASKED[key] for key in ("logGroupName", "startTime", "endTime")}


def test_nothing_of_the_machine_counts(cloud: Server) -> None:
    cloud.answer("/", {"events": []}, Content_Type="application/x-amz-json-1.1")
    assert read("FilterLogEvents", GIVEN).result == {"events": []}
    (asked,) = cloud.asked
    assert "Credential=AKIAREADER/" in asked.headers["authorization"]
    assert "/eu-west-1/logs/" in asked.headers["authorization"]
    assert json.loads(asked.body)["logGroupName"] == "LOGGROUPNAME"


def test_a_call_that_failed_is_not_sent_again(cloud: Server) -> None:
    for number, status in enumerate((429, 500, 503), 1):
        cloud.answer("/", {"__type": "ThrottlingException", "message": "slow"}, status)
        with pytest.raises(Refused) as refused:
            read("FilterLogEvents", GIVEN)
        assert (refused.value.code, len(cloud.asked)) == ("aws_error", number)


@pytest.mark.parametrize("name", ["FilterLogEvents", "DescribeAlarms", "DescribeEvents"])
def test_an_answer_that_is_none_is_a_refusal(cloud: Server, name: str) -> None:
    """Each of the three ways in which these services write their answers."""
    answers = (b"<html>", b"", b"\xff\xfe\x00", b"[" * 100_000, b'{"events": 7}', b"\xa1" * 50, b"null", b"7", b'"a"')
    for answer in answers:
        cloud.scripts[""] = lambda asked, answer=answer: [whole(answer, 200, smithy_protocol="rpc-v2-cbor")]
        with suppress(Refused):
            assert isinstance(read(name, GIVEN if name == "FilterLogEvents" else {}).result, dict)


def test_a_redirect_is_not_followed(cloud: Server) -> None:
    cloud.answer("/", {}, 307, Location=f"{cloud.url}/elsewhere")
    with pytest.raises(Refused):
        read("FilterLogEvents", GIVEN)
    assert [asked.target for asked in cloud.asked] == ["/"]


def test_a_server_that_is_not_there_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amazon, "_endpoint", lambda service: "http://127.0.0.1:9")
    amazon._made.cache_clear()
    with pytest.raises(Refused, match="could not be reached"):
        read("FilterLogEvents", GIVEN)
    amazon._made.cache_clear()


@pytest.mark.parametrize("value", ["AKIA", "AKIA:", ":secret", "AKIA:a:b:c", "AKIA:a\nb", "AKIA:ä", "AKIA::token"])
def test_a_credential_that_is_none_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CLOUD_READER_TOKEN", value)
    with pytest.raises(Refused, match="CLOUD_READER_TOKEN holds"):
        read("FilterLogEvents", GIVEN)
    with pytest.raises(Problem, match="CLOUD_READER_TOKEN holds"):
        KIND.address(bare.source(BODY))


def test_a_credential_that_is_unset_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOUD_READER_TOKEN")
    with pytest.raises(Problem, match="needs the environment variable"):
        read("FilterLogEvents", GIVEN)


def test_the_address_has_no_secret_in_it() -> None:
    assert KIND.address(bare.source(BODY)) == "AWS eu-west-1, access key AKIAREADER"
    assert "secret" not in repr(keys.of(bare.source(BODY), "reader_env"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"region": "eu-west-1.evil.example"}, "region is the name"),
        ({"region": "../x"}, "region is the name"),
        ({"region": None}, "region is the name"),
        ({"log_groups": ["*"]}, "none of log_groups"),
        ({"log_groups": ["arn:aws:logs:eu-west-1:1:log-group:a"]}, "none of log_groups"),
        ({"log_groups": "orders"}, "lists the log groups"),
        ({"query_seconds": 61}, "query_seconds"),
        ({"query_seconds": True}, "query_seconds"),
        ({"reader_env": "CLOUD_DSN"}, "ends with _READER_TOKEN"),
        ({"doctor_env": "CLOUD_READER_TOKEN"}, "doctor_env"),
        ({"accepts": ["writes"]}, "cannot be left to later lines"),
        ({"endpoint": "http://127.0.0.1"}, "says exactly"),
        ({"role_arn": "x"}, "says exactly"),
    ],
)
def test_a_source_that_says_something_else_is_not_taken(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        KIND.check_source("mine", {**BODY, **change})


# The proof.

GROUPS = BODY["log_groups"]
assert isinstance(GROUPS, list)
POLICY = policies.reader_policy("eu-west-1", "123456789012", GROUPS)
ARN = "arn:aws:iam::123456789012:user/tools/reader"


def allow(action: Any, resource: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Statement": [{"Effect": "Allow", "Action": action, "Resource": resource, **more}]}


def failing(facts: Any) -> set[str]:
    return {fact.fact for fact in facts if not fact.holds}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (POLICY, set()),
        ({"Statement": {"Effect": "Deny", "Action": "*", "Resource": "*"}}, set()),
        (allow("CLOUDWATCH:describealarms"), set()),
        (allow("*"), {"writes"}),
        (allow("*:*"), {"writes"}),
        (allow("logs:*"), {"writes", "log_groups"}),
        (allow("cloudwatch:*"), {"writes"}),
        (allow("cloudwatch:P*"), {"writes"}),
        (allow("cloudwatch:?et*"), {"writes"}),
        (allow(["logs:GetQueryResults", "logs:PutLogEvents"]), {"writes"}),
        (allow("logs:Unmask"), {"writes"}),
        (allow("logs:StartQueryX"), {"writes"}),
        (allow("logs:Start*"), {"writes", "log_groups"}),
        (allow("sts:AssumeRole"), {"writes"}),
        (allow("sts:GetFederationToken"), {"writes"}),
        (allow("ecr:GetAuthorizationToken"), {"writes"}),
        (allow("secretsmanager:GetSecretValue"), {"writes"}),
        (allow("s3:GetObject"), {"writes"}),
        (allow("iam:List*"), {"writes"}),
        (allow("cloudwatch:Get*"), {"actions"}),
        (allow("logs:DescribeLogGroups"), {"actions"}),
        (allow("rds:Describe*"), {"actions"}),
        (allow("logs:StartQuery"), {"log_groups"}),
        (allow("logs:Filter*", "arn:aws:logs:eu-west-1:1:log-group:*"), {"actions", "log_groups"}),
        (allow("logs:StartQuery", "arn:aws:logs:eu-west-1:1:log-group:secret:*"), {"log_groups"}),
        (allow("logs:StartQuery", "arn:aws:logs:*:*:log-group:LOGGROUPNAME:*"), set()),
        (allow("logs:StartQuery", ["arn:aws:logs:eu-west-1:1:log-group:/aws/lambda/resize:*", "*"]), {"log_groups"}),
        ({"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}]}, {"writes"}),
        ({"Statement": [{"Effect": "Allow", "Action": "logs:StartQuery", "NotResource": "x"}]}, {"log_groups"}),
        (allow("logs:PutLogEvents", Condition={"Bool": {"aws:SecureTransport": "false"}}), {"writes"}),
        ({"Statement": [{"Action": "logs:PutLogEvents", "Resource": "*"}]}, {"writes"}),
        ({"Statement": [{"Effect": "allow", "Action": "a:Get", "Resource": "*"}]}, {"writes"}),
        ({}, {"writes"}),
        (None, {"writes"}),
        ("%7B%22Statement%22", {"writes"}),
        ({"Statement": ["x"]}, {"writes"}),
        ({"Statement": [{"Effect": "Allow", "Resource": "*"}]}, {"writes"}),
    ],
    ids=lambda one: str(sorted(one) if isinstance(one, set) else one),
)  # fmt: skip
def test_what_a_policy_allows_is_a_known_read_or_counts_as_a_write(document: Any, expected: set[str]) -> None:
    facts = policies.of_policies([POLICY, document], GROUPS)
    found = failing(facts)
    assert found - {"log_groups"} == expected - {"log_groups"}
    assert "log_groups" not in expected or "log_groups" in found
    assert all(fact.mend for fact in facts if not fact.holds)


RESULTS = [
    {"EvalActionName": action, "EvalResourceName": "*", "EvalDecision": "implicitDeny"} for action in policies.WRITES
]


def test_a_simulation_that_denies_each_write_holds() -> None:
    assert policies.of_simulation(RESULTS).holds


@pytest.mark.parametrize(
    "results",
    [
        [], RESULTS[1:], [None, *RESULTS[1:]], [{**RESULTS[0], "EvalDecision": "allowed"}, *RESULTS[1:]],
        [{**RESULTS[0], "MissingContextValues": ["aws:SourceIp"]}, *RESULTS[1:]],
        [{**RESULTS[0], "EvalActionName": "other:Action"}, *RESULTS[1:]],
    ],
)  # fmt: skip
def test_a_write_that_is_not_plainly_denied_counts_as_allowed(results: Any) -> None:
    fact = policies.of_simulation(results)
    assert (fact.holds, policies.WRITES[0] in fact.seen) == (False, True)


def test_a_simulation_that_was_cut_does_not_hold() -> None:
    assert not policies.of_simulation(RESULTS, is_whole=False).holds


@pytest.fixture
def iam(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Stubber]]:
    """Stubbed clients of sts for both, and of iam for the doctor alone."""
    reader, doctor = keys.Key("AKIAREADER", "reader/secret+"), keys.Key("AKIADOCTOR", "doctor-secret", "doctor-token")
    found = {
        "reader": Stubber(amazon.client("sts", "eu-west-1", reader, 10.0)),
        "doctor": Stubber(amazon.client("sts", "eu-west-1", doctor, 10.0)),
        "iam": Stubber(amazon.client("iam", "eu-west-1", doctor, 10.0)),
    }
    for stub in found.values():
        stub.activate()
    yield found
    for stub in found.values():
        stub.deactivate()


def who(iam: dict[str, Stubber], arn: str = ARN) -> None:
    for whose, named in (("reader", arn), ("doctor", "arn:aws:iam::123456789012:user/doctor")):
        iam[whose].add_response("get_caller_identity", {"Arn": named, "Account": "123456789012", "UserId": "x"})


def attached(iam: Stubber, kind: str, whose: dict[str, str], document: Any = POLICY, cut: bool = False) -> None:
    arn = "arn:aws:iam::123456789012:policy/reader"
    iam.add_response(
        f"list_attached_{kind}_policies",
        {"AttachedPolicies": [{"PolicyName": "reader", "PolicyArn": arn}], "IsTruncated": cut}, whose,
    )  # fmt: skip
    iam.add_response("get_policy", {"Policy": {"DefaultVersionId": "v3"}}, {"PolicyArn": arn})
    iam.add_response(
        "get_policy_version",
        {"PolicyVersion": {"Document": json.dumps(document)}},
        {"PolicyArn": arn, "VersionId": "v3"},
    )
    iam.add_response(f"list_{kind}_policies", {"PolicyNames": [], "IsTruncated": False}, whose)


def simulated(iam: Stubber, principal: str, results: Any = RESULTS) -> None:
    sent = {"PolicySourceArn": principal, "ActionNames": list(policies.WRITES)}
    iam.add_response("simulate_principal_policy", {"EvaluationResults": results, "IsTruncated": False}, sent)


def prove_user(iam: dict[str, Stubber], inline: Any = POLICY, cut: bool = False, **changes: Any) -> Any:
    who(iam)
    attached(iam["iam"], "user", {"UserName": "reader"}, cut=cut)
    group = {"Path": "/", "GroupName": "readers", "GroupId": "A" * 16, "Arn": "arn:aws:iam::1:group/readers",
             "CreateDate": AT}  # fmt: skip
    iam["iam"].add_response("list_groups_for_user", {"Groups": [group]}, {"UserName": "reader"})
    iam["iam"].add_response("list_attached_group_policies", {"AttachedPolicies": []}, {"GroupName": "readers"})
    iam["iam"].add_response("list_group_policies", {"PolicyNames": ["own"]}, {"GroupName": "readers"})
    document = json.dumps(inline)
    answer = {"GroupName": "readers", "PolicyName": "own", "PolicyDocument": document}
    iam["iam"].add_response("get_group_policy", answer, {"GroupName": "readers", "PolicyName": "own"})
    simulated(iam["iam"], ARN)
    return KIND.prove(bare.source({**BODY, **changes}))


def test_a_user_with_the_readers_policy_alone_is_proven(iam: dict[str, Stubber]) -> None:
    proven = prove_user(iam)
    assert (proven.holds, failing(proven.facts)) == (True, set())
    assert (proven.address, proven.role) == ("AWS eu-west-1, access key AKIAREADER", ARN)
    assert {fact for attack in KIND.attacks for fact in attack.facts} <= {fact.fact for fact in proven.facts}
    for stub in iam.values():
        stub.assert_no_pending_responses()


def test_a_policy_of_a_group_counts(iam: dict[str, Stubber]) -> None:
    proven = prove_user(iam, inline=allow("logs:DeleteLogGroup"))
    assert (failing(proven.facts), proven.holds) == ({"writes"}, False)


def test_what_reads_too_much_may_be_left_to_later_lines(iam: dict[str, Stubber]) -> None:
    proven = prove_user(iam, inline=allow("cloudwatch:Get*"), accepts=["actions"])
    assert (failing(proven.facts), proven.holds) == ({"actions"}, True)


def test_a_list_of_policies_that_goes_on_is_not_whole(iam: dict[str, Stubber]) -> None:
    assert failing(prove_user(iam, cut=True).facts) == {"policies_whole"}


def test_a_role_is_looked_at_by_its_own_name(iam: dict[str, Stubber]) -> None:
    arn = "arn:aws:iam::123456789012:role/path/reading"
    who(iam, "arn:aws:sts::123456789012:assumed-role/reading/i-0abc")
    attached(iam["iam"], "role", {"RoleName": "reading"})
    role = {"Path": "/path/", "RoleName": "reading", "RoleId": "A" * 16, "Arn": arn, "CreateDate": AT}
    iam["iam"].add_response("get_role", {"Role": role}, {"RoleName": "reading"})
    simulated(iam["iam"], arn, [{**RESULTS[0], "EvalDecision": "allowed"}, *RESULTS[1:]])
    proven = KIND.prove(bare.source(BODY))
    assert (failing(proven.facts), proven.holds) == ({"tries"}, False)


@pytest.mark.parametrize(
    "arn", ["arn:aws:iam::123456789012:root", "arn:aws:sts::123456789012:federated-user/x", "nonsense, and more of it"]
)
def test_who_has_no_policies_of_its_own_is_not_proven(iam: dict[str, Stubber], arn: str) -> None:
    who(iam, arn)
    assert not KIND.prove(bare.source(BODY)).holds
    assert "signed_in" in failing(policies.of_identity("arn:aws:iam::1:root", "x"))


def test_a_doctor_that_may_not_look_proves_nothing(iam: dict[str, Stubber]) -> None:
    who(iam)
    iam["iam"].add_client_error("list_attached_user_policies", "AccessDenied", "not with doctor-token", 403)
    proven = KIND.prove(bare.source(BODY))
    assert (proven.holds, "AccessDenied" in proven.facts[0].seen) == (False, True)
    assert "doctor-token" not in proven.facts[0].seen


def test_the_strongest_reader_is_one_that_the_proof_takes() -> None:
    lines = [line.replace("ACCOUNT:", "123456789012:") for line in KIND.strongest_reader(bare.source(BODY))]
    reader, doctor = (json.loads(line) for line in lines if line.startswith("{"))
    assert all(fact.holds for fact in policies.of_policies([reader], GROUPS))
    assert set(doctor["Statement"][0]["Action"]) == set(policies.DOCTOR_ACTIONS)
    assert all(action.startswith(("iam:Get", "iam:List", "iam:Simulate")) for action in policies.DOCTOR_ACTIONS)
