"""Elasticsearch, Kubernetes and CloudWatch from a draft to an entry, and from the entry to the reader of a rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.stub import Stubber
from django.core.management import call_command

from audit.agents import Principal
from audit.models import Entry
from evidence import catalog, contracts, proof
from evidence.bounds import DEFAULT
from evidence.errors import Problem
from evidence.kinds.cloudwatch import amazon, keys, policies
from evidence.kinds.http import client
from gate.triage import recorded_calls
from gate.triage.readers.cloudwatch_alarms import CloudwatchAlarms
from gate.triage.readers.elastic import ElasticSearch
from gate.triage.readers.kube_jobs import KubeJob
from tests.evidence import bodies
from tests.evidence.kinds import native
from tests.evidence.kinds import test_cloudwatch_kind as cloudwatch
from tests.evidence.kinds import test_elasticsearch_kind as elasticsearch
from tests.evidence.kinds import test_kubernetes_kind as kubernetes
from tests.evidence.kinds.http_server import Server, running

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name, value in {
        "LOGS_READER_TOKEN": "ApiKey cmVhZGVy", "LOGS_DOCTOR_TOKEN": "ApiKey ZG9jdG9y",
        "CLUSTER_READER_TOKEN": "reader.token", "CLUSTER_DOCTOR_TOKEN": "doctor.token",
        "CLOUD_READER_TOKEN": cloudwatch.READER, "CLOUD_DOCTOR_TOKEN": cloudwatch.DOCTOR,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with running() as found:
        yield found
        client.close()


Ask = Callable[[str, dict[str, Any], dict[str, Any], dict[str, Any]], dict[str, Any]]


@pytest.fixture
def ask(define: Any, asker: tuple[Principal, str], scope_of: Any) -> Ask:
    """Define a source and a tool that takes what is given, prove the source, and call the tool as an agent."""

    def do(tool: str, source: dict[str, Any], request: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        certificate = proof.certify(define("source", "native", source))
        assert certificate.holds, [fact for fact in certificate.facts if not fact["holds"]]
        common = {key: value for key, value in bodies.tool(source="native").items() if key not in contracts.SQL_KEYS}
        schema = native.schema(*given)
        anything = {"type": "object"}
        define("tool", tool, {**common, "input_schema": schema, "output_schema": anything, "request": request})
        scope_of(asker[0], tool)
        return catalog.call(asker[0], tool, given, None)

    return do


def recorded(answer: dict[str, Any]) -> Any:
    """The call as a verdict gets it from the log."""
    entry = Entry.objects.get(seq=int(answer["audit_id"].removeprefix("A-")))
    (call,) = recorded_calls.load(0, [answer["audit_id"]], [], entry.at)
    return call


def test_a_search_is_recorded_as_its_reader_reads_it(server: Server, ask: Ask) -> None:
    elasticsearch.prove(server)
    server.answer("/app-logs/_search", elasticsearch.NONE_FOUND)
    answer = ask("es_search", elasticsearch.body(server), elasticsearch.OWN, elasticsearch.SEARCHED)
    assert (answer["result"], answer["incomplete"]) == (elasticsearch.NONE_FOUND, [])
    seen = ElasticSearch(recorded(answer))
    assert (seen.complete(), seen.found(), seen.call.truncated) == (True, 0, False)


def test_an_object_is_recorded_as_its_reader_reads_it(server: Server, ask: Ask) -> None:
    kubernetes.prove(server)
    server.answer("/apis/batch/v1/namespaces/shop/jobs/a", kubernetes.JOB)
    given = {"kind": "job", "namespace": "shop", "name": "a"}
    answer = ask("kubectl_get", kubernetes.body(server), kubernetes.GET, given)
    assert (answer["result"], answer["incomplete"]) == (kubernetes.JOB, [])
    seen = KubeJob(recorded(answer))
    assert (seen.complete(), seen.succeeded(()), seen.call.truncated) == (True, 1, False)


def test_a_list_that_goes_on_is_recorded_as_cut(server: Server, ask: Ask) -> None:
    kubernetes.prove(server)
    told = {"resourceVersion": "9", "continue": "x", "remainingItemCount": 4}
    listed = {"kind": "JobList", "apiVersion": "batch/v1", "metadata": told, "items": []}
    server.answer("/apis/batch/v1/namespaces/shop/jobs", listed)
    given = {"kind": "job", "namespace": "shop"}
    request = {key: value for key, value in kubernetes.GET.items() if key != "name"}
    answer = ask("kubectl_get", kubernetes.body(server), request, given)
    assert (answer["truncated"], answer["incomplete"]) == (True, ["goes_on"])
    assert recorded(answer).truncated is True


def test_the_commands_prove_a_cluster_and_print_its_strongest_reader(
    server: Server, define: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    kubernetes.prove(server)
    define("source", "native", kubernetes.body(server))
    call_command("prove_reader", "native")
    assert "system:serviceaccount:counterseal:reader" in capsys.readouterr().out
    call_command("reader_role", "native")
    assert "kind: ClusterRole" in capsys.readouterr().out


def test_an_argument_that_leaves_its_place_is_a_failed_call_and_nothing_is_sent(server: Server, ask: Ask) -> None:
    kubernetes.prove(server)
    before = {(one.method, one.target) for one in server.asked}
    with pytest.raises(Problem) as refused:
        ask("kubectl_get", kubernetes.body(server), kubernetes.GET,
            {"kind": "pods", "namespace": "shop", "name": "a/../../secrets/b"})  # fmt: skip
    assert (refused.value.status, refused.value.code) == (422, "parameters")
    assert {(one.method, one.target) for one in server.asked} == before


def test_alarms_are_recorded_as_their_reader_reads_them(server: Server, ask: Ask) -> None:
    reader, doctor = keys.Key("AKIAREADER", "reader/secret+"), keys.Key("AKIADOCTOR", "doctor-secret", "doctor-token")
    with (
        Stubber(amazon.client("sts", "eu-west-1", reader, 10.0)) as own,
        Stubber(amazon.client("sts", "eu-west-1", doctor, 10.0)) as others,
        Stubber(amazon.client("iam", "eu-west-1", doctor, 10.0)) as iam,
        Stubber(amazon.client("cloudwatch", "eu-west-1", reader, DEFAULT.seconds)) as alarms,
    ):
        cloudwatch.who({"reader": own, "doctor": others})
        whose = {"UserName": "reader"}
        iam.add_response("list_attached_user_policies", {"AttachedPolicies": []}, whose)
        iam.add_response("list_user_policies", {"PolicyNames": ["own"]}, whose)
        document = {"UserName": "reader", "PolicyName": "own", "PolicyDocument": json.dumps(cloudwatch.POLICY)}
        iam.add_response("get_user_policy", document, {**whose, "PolicyName": "own"})
        iam.add_response("list_groups_for_user", {"Groups": []}, whose)
        cloudwatch.simulated(iam, cloudwatch.ARN, cloudwatch.RESULTS)
        alarms.add_response("describe_alarms", {"MetricAlarms": [cloudwatch.ALARM]}, {"AlarmNames": ["a"]})
        request = {"operation": "DescribeAlarms", "parameters": {"AlarmNames": {"argument": "AlarmNames"}}}
        answer = ask("cloudwatch_describe_alarms", cloudwatch.BODY, request, {"AlarmNames": ["a"]})
    assert len(policies.WRITES) == len(cloudwatch.RESULTS)
    seen = CloudwatchAlarms(recorded(answer))
    (place,) = seen.places()
    assert (seen.complete(), seen.state(place), seen.asked_names()) == (True, "OK", ("a",))
