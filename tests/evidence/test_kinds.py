"""The seam of kinds: one that nothing but this file knows is drafted, proven, read and recorded like any other."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from audit import reading
from audit.models import Definition, Entry
from evidence import catalog, contracts, gateway, kinds, layers, proof
from evidence.bounds import Limits
from evidence.contracts import Contract
from evidence.errors import Problem, Refused
from evidence.kinds.cloudwatch import completeness as cloudwatch
from evidence.kinds.cloudwatch import running
from evidence.kinds.elasticsearch import completeness as elasticsearch
from evidence.kinds.http import completeness as http
from evidence.kinds.kind import Found, Proven, Seen, SourceKind, request_of
from evidence.kinds.kubernetes import completeness as kubernetes
from evidence.kinds.loki import completeness as loki
from evidence.kinds.mariadb import completeness as mariadb
from evidence.kinds.prometheus import completeness as prometheus
from tests.evidence import bodies

pytestmark = pytest.mark.django_db


class Shelf:
    """A kind whose sources hold words, and whose proof can be made to fail."""

    name = "shelf"
    attacks = (layers.Attack("Putting something on the shelf", ("closed",), "the lid"),)
    codes: Mapping[str, str] = {"behind_the_end": "The shelf ends before it.", "unsorted": "The words are unsorted."}
    source_example: Mapping[str, Any] = {"kind": "shelf", "words": ["a"]}
    tool_example: Mapping[str, Any] = {"request": {"at": 0}}

    def __init__(self) -> None:
        self.is_closed = True

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        if set(body) != {"kind", "words"}:
            raise ValueError("A shelf says its words.")

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        if set(body.get("request", {})) != {"at"}:
            raise ValueError("A request to a shelf says at.")

    def credentials(self, source: Definition) -> tuple[str, ...]:
        return ()

    def address(self, source: Definition) -> str:
        return f"shelf {source.name}"

    def prove(self, source: Definition) -> Proven:
        return Proven(self.address(source), "anyone", "here", [Seen("closed", "It is closed.", self.is_closed, "", "")])

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        at = request_of(contract)["at"]
        if at < 0:
            raise Refused("parameters", "A shelf has nothing before its beginning.")
        missing = () if at < len(source.body["words"]) else ("behind_the_end", "unsorted")
        return Found({"word": (source.body["words"][at:] or [""])[0]}, False, missing)

    def strongest_reader(self, source: Definition) -> list[str]:
        return [f"-- Close {source.name}."]


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    made = Shelf()
    known: SourceKind = made
    monkeypatch.setattr(kinds, "KINDS", {**kinds.KINDS, "shelf": known})
    return made


ANYTHING = {"type": "object", "properties": {}}


def tool(at: int = 0, **changes: Any) -> dict[str, Any]:
    common = {key: value for key, value in bodies.tool(source="words").items() if key not in contracts.SQL_KEYS}
    return {**common, "input_schema": ANYTHING, "output_schema": ANYTHING, "request": {"at": at}, **changes}


@pytest.fixture
def ask(shelf: Shelf, define: Any, asker: Any, scope_of: Any) -> Any:
    """Ask for the word at a place of a proven shelf, as an agent."""
    proof.certify(define("source", "words", {"kind": "shelf", "words": ["first"]}))
    scope_of(asker[0], "find_word")

    def do(at: int) -> dict[str, Any]:
        define("tool", "find_word", tool(at))
        return catalog.call(asker[0], "find_word", {}, None)

    return do


def entry(answer: dict[str, Any]) -> Entry:
    return Entry.objects.get(seq=int(answer["audit_id"].removeprefix("A-")))


def test_a_whole_answer_is_native_and_says_that_nothing_is_missing(ask: Any) -> None:
    answer = ask(0)
    assert (answer["result"], answer["truncated"], answer["incomplete"]) == ({"word": "first"}, False, [])
    kept = entry(answer)
    assert (kept.truncated, kept.error_class, kept.status) == (False, "", "ok")
    assert reading.payload_of(kept.pk).result == {"word": "first"}


def test_what_the_source_says_is_missing_is_told_and_kept_and_counts_as_cut(
    ask: Any, client: Client, make_person: Any
) -> None:
    answer = ask(7)
    assert (answer["truncated"], answer["incomplete"]) == (True, ["behind_the_end", "unsorted"])
    assert answer["incomplete_why"] == list(Shelf.codes.values())
    kept = entry(answer)
    assert kept.error == "The shelf ends before it. The words are unsorted."
    assert (kept.truncated, kept.error_class, kept.status) == (True, "behind_the_end unsorted", "ok")
    assert kept.summary.endswith("cut: behind_the_end unsorted")
    client.force_login(make_person("vera", "viewer"))
    page = client.get(f"/audit/{kept.seq}/").content.decode()
    assert "<dt>Not the whole answer</dt><dd>The shelf ends before it. The words are unsorted." in page
    assert "<dt>Error</dt>" not in page


def test_no_code_of_any_kind_lacks_its_sentence() -> None:
    for kind in kinds.KINDS.values():
        for code, sentence in kind.codes.items():
            assert re.fullmatch(r"[a-z]+(?:_[a-z]+)*", code), (kind.name, code)
            assert re.fullmatch(r"[A-Z][^\n]{10,}\.", sentence), (kind.name, code)


# Where the codes of each kind are made, and what makes them: a literal there that is no code of the table is found.
MADE_IN = {
    "postgresql": (), "mariadb": (), "http": (), "prometheus": (prometheus,), "loki": (loki,),
    "elasticsearch": (elasticsearch,), "kubernetes": (kubernetes,), "cloudwatch": (cloudwatch, running),
}  # fmt: skip


def test_every_code_that_is_made_is_in_its_table() -> None:
    assert set(MADE_IN) == set(kinds.KINDS)
    for name, modules in MADE_IN.items():
        made = {code for module in modules for code in codes_made(Path(module.__file__ or "").read_text())}
        assert made <= set(kinds.KINDS[name].codes), name
        assert bool(made) is bool(modules), name
    broken = {f"not_{rule}" for rule in http.RULES if rule != "unpaged"}
    assert broken | {"link_pages", "page_header", "marked"} == set(http.CODES)
    assert set(mariadb.NUMBERS.values()) | {mariadb.OTHER} == set(mariadb.CODES)


def codes_made(text: str) -> set[str]:
    """The codes that a module yields, and those of tuples that it gives back, where they stand there as texts."""
    made = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Yield | ast.Return)]
    within = [part for value in made if value for part in ast.walk(value) if isinstance(part, ast.Tuple)]
    texts = [value for value in made if isinstance(value, ast.Constant)] + [one for each in within for one in each.elts]
    return {one.value for one in texts if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value}


def test_a_refusal_of_the_kind_is_a_failed_call(ask: Any) -> None:
    with pytest.raises(Problem, match="nothing before its beginning; the failed call is A-"):
        ask(-1)


def test_a_kind_that_cannot_prove_itself_goes_dark(ask: Any, shelf: Shelf) -> None:
    shelf.is_closed = False
    certificate = proof.certify(Definition.objects.get(kind="source", name="words"))
    assert not certificate.holds
    with pytest.raises(Problem, match="It is closed"):
        ask(0)


def test_each_kind_says_what_its_tools_and_sources_say(shelf: Shelf, define: Any) -> None:
    with pytest.raises(ValueError, match="A shelf says its words"):
        define("source", "words", {"kind": "shelf"})
    with pytest.raises(ValueError, match="no source words; draft it first"):
        define("tool", "find_word", tool())
    define("source", "words", {"kind": "shelf", "words": ["first"]})
    with pytest.raises(ValueError, match="A request to a shelf says at"):
        define("tool", "find_word", tool(request={"from": 0}))
    with pytest.raises(ValueError, match="sql is nothing that a tool says"):
        define("tool", "find_word", {**tool(), "sql": "select 1"})
    define("source", "scratch", bodies.source())
    with pytest.raises(ValueError, match="has no request"):
        define("tool", "find_word", {**tool(), "source": "scratch"})


def test_a_tool_that_was_written_for_another_kind_is_not_read(ask: Any, asker: Any, define: Any, shelf: Shelf) -> None:
    ask(0)
    body = {**bodies.any_tool("select 1 as a"), "source": "words"}
    Definition.objects.filter(kind="tool", name="find_word", status="active").update(body=body)
    with pytest.raises(Problem, match="written for another kind of source"):
        gateway.call(asker[0], "find_word", {}, None)


def test_the_commands_and_the_certificate_speak_about_every_kind(
    ask: Any, capsys: pytest.CaptureFixture[str], shelf: Shelf
) -> None:
    call_command("reader_role", "words")
    call_command("prove_reader", "words")
    told = capsys.readouterr().out
    assert "-- Close words." in told
    assert "the credential: Putting something on the shelf" in told
    source = Definition.objects.get(kind="source", name="words")
    assert proof.standings([source])["words"].layers == [("Putting something on the shelf", layers.CREDENTIAL)]


@pytest.mark.parametrize("name", sorted(kinds.KINDS))
def test_every_kind_says_which_line_stops_what(name: str) -> None:
    attacks = kinds.KINDS[name].attacks
    assert len({attack.name for attack in attacks}) == len(attacks) >= 3
    # Without a single fact that holds, nothing rests on the credential.
    assert layers.CREDENTIAL not in dict(layers.report(attacks, [])).values()
    assert any(attack.facts for attack in attacks)
    everything = [{"fact": fact, "holds": True} for attack in attacks for fact in attack.facts]
    by_credential = {name for name, line in layers.report(attacks, everything) if line == layers.CREDENTIAL}
    assert by_credential == {attack.name for attack in attacks if attack.facts}


@pytest.mark.parametrize("name", sorted(kinds.KINDS))
def test_no_kind_is_proven_or_read_without_its_credentials(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = kinds.KINDS[name]
    source = Definition(kind="source", name="example", version=1, body=dict(kind.source_example))
    variables = kind.credentials(source)
    assert variables
    for variable in variables:
        monkeypatch.delenv(variable, raising=False)
    proven = kind.prove(source)
    assert not proven.holds
    assert variables[0] in str(proven.facts)
    with pytest.raises(Problem, match=variables[0]):
        kind.address(source)
