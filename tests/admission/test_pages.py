"""Policies on pages: what is asked and decided, what a draft would change, and two hands before it does."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from audit import agents, twohands
from audit.agents import Principal
from audit.models import Definition
from gate.admission import judging, policies
from tests.admission.programs import case
from tests.admission.test_api import REGENERABLE, body, probed

pytestmark = pytest.mark.django_db
LOOSER = ["inside", "elsewhere"]
# Entries stay when a test ends, and what was judged lately is found by the policy's name.
UNTRIED, TRIED, DECIDED = (f"{word}-{uuid4().hex[:8]}" for word in ("untried", "tried", "decided"))


@pytest.fixture
def mia(make_person: Any) -> Client:
    client = Client()
    client.force_login(make_person("mia", "admin"))
    return client


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def looser() -> dict[str, Any]:
    """The shell's policy with build output let pass elsewhere, too."""
    changed = body("shell-commands")
    rule = next(one for one in changed["program"]["rules"] if one["id"] == "build_output")
    rule["when"][1] = {"q": "place", "op": "in", "value": LOOSER}
    return changed


def principal_of(agent: Any) -> Principal:
    return Principal(agent.pk, agent.name, agent.owner_id, agent.owner_name, frozenset(agents.SCOPES))


def judged(agent: Any, **facts: str) -> None:
    """A call that the policy in force judges, as the agents' plane has it done."""
    found = judging.judge(TRIED, probed(**{**REGENERABLE, **facts}))
    principal = Principal(agent.pk, agent.name, agent.owner_id, agent.owner_name, frozenset(agents.SCOPES))
    judging.recorded(
        found, principal, subject="rm -rf", answers=probed(**{**REGENERABLE, **facts}), action={}, model={}
    )


def test_without_a_policy_the_shipped_ones_are_offered(mia: Client) -> None:
    page = text(mia.get("/policies/"))
    assert "No policy yet." in page
    assert "?shipped=shell-commands" in page
    draft = text(mia.get("/policies/new/?shipped=shell-commands"))
    assert 'value="shell-commands"' in draft
    assert "home_or_system" in draft
    assert "nothing found" in draft


def test_a_policy_shows_questions_beside_their_prose_and_rules_as_a_table(mia: Client, define: Any) -> None:
    define("policy", UNTRIED, body("shell-commands"))
    page = text(mia.get(f"/policies/{UNTRIED}/"))
    assert "from “Nobody deletes or overwrites a home folder or the system.”, rules.md, Shell commands 2" in page
    assert "action in overwrites, removes and place in home, system" in page
    assert "Of 192 cells 49 are allowed, 95 asked and 48 blocked." in page
    assert "13 cases decided as they say. Lint:" in page
    assert "Nothing was judged by it yet." in page
    assert text(mia.get("/policies/")).count(f"/policies/{UNTRIED}/") == 1


def test_a_draft_says_what_it_would_let_pass_and_which_recorded_calls_change(
    mia: Client, define: Any, make_person: Any, make_agent: Any
) -> None:
    define("policy", TRIED, body("shell-commands"))
    agent, _ = make_agent("coder")
    for place in ("inside", "elsewhere", "home"):
        judged(agent, place=place)
    twohands.draft("policy", TRIED, looser(), by=make_person("ada", "admin"), reason="scratch folders")
    page = text(mia.get(f"/policies/{TRIED}/"))
    assert "action removes, place elsewhere, regenerable yes, tracked no, exists yes" in page
    assert "Cells that become allow: 1, ask: 0, block: 0." in page
    assert "1 of the last 3 recorded decisions changes verdict:" in page
    assert "ask → allow" in page
    assert "0 of the last 3 decisions" in page


def test_a_decision_shows_each_answer_and_who_gave_it(mia: Client, define: Any, make_agent: Any) -> None:
    define("policy", DECIDED, {"title": "Loss", "program": case("dev-r33")["program"], "cases": []})
    answers = {
        "changes_rows": {"p": 0.5}, "loss": {"level": 2.89, "confidence": 0.9},
        "environment": {"abstain": True, "why": "the host is not known"}, "more": 1,
    }  # fmt: skip
    found = judging.judge(DECIDED, answers, judged="sha256:aa", executed="sha256:bb")
    told = judging.recorded(
        found,
        principal_of(make_agent("coder")[0]),
        subject="drop\u202eit",
        answers=answers,
        action={"observed_by": "probes"},  # as ours say of writes; here it is the word of whoever asked
        model={"id": "m-2"},
    )
    assert told.entry is not None
    page = text(mia.get(f"/policies/{DECIDED}/decisions/{told.entry.seq}/"))
    for words in (
        "<code>0.5</code>", "low_confidence", "2.89, confidence 0.9", "missing: the host is not known",
        "the agent itself, m-2", "client probe", r"drop\u202eit", "before any rule", "action_changed", "sha256:aa",
        "#v1", told.entry.ref,
    ):  # fmt: skip
        assert words in page, words
    assert "says something else now" not in page
    assert mia.get(f"/policies/{UNTRIED}/decisions/{told.entry.seq}/").status_code == 404
    assert mia.get(f"/policies/{DECIDED}/decisions/999999999/").status_code == 404
    assert f"/policies/{DECIDED}/decisions/{told.entry.seq}/" in text(mia.get(f"/policies/{DECIDED}/"))


def test_a_second_person_activates_and_an_earlier_version_is_where_a_roll_back_starts(
    mia: Client, define: Any, make_person: Any
) -> None:
    define("policy", "shell-commands", body("shell-commands"))
    ada = make_person("ada", "admin")
    twohands.draft("policy", "shell-commands", looser(), by=ada, reason="scratch folders")
    own = Client()
    own.force_login(ada)
    assert own.post("/policies/shell-commands/versions/2/activation/").status_code == 409
    assert "someone else must activate it" in text(own.get("/policies/shell-commands/"))
    assert mia.post("/policies/shell-commands/versions/2/activation/").status_code == 302
    page = text(mia.get("/policies/shell-commands/"))
    assert "Roll back to version 1" in page
    draft = mia.get("/policies/shell-commands/new/?from=1")
    assert json.loads(draft.context["form"]["policy"].value()) == body("shell-commands")
    assert mia.get("/policies/shell-commands/new/?from=9").status_code == 404


def test_a_version_observes_before_it_decides(mia: Client, make_person: Any) -> None:
    twohands.draft("policy", "shell-commands", body("shell-commands"), by=make_person("ada", "admin"), reason="first")
    assert "Observe first" in text(mia.get("/policies/shell-commands/"))
    assert mia.post("/policies/shell-commands/versions/1/observation/").status_code == 302
    page = text(mia.get("/policies/shell-commands/"))
    assert "observes" in page
    assert "Observe first" not in page
    assert mia.post("/policies/shell-commands/versions/1/observation/").status_code == 409


def test_a_policy_is_drafted_with_what_lint_says_beside_it(mia: Client) -> None:
    fields = {"name": "restarts", "policy": json.dumps(policies.EXAMPLE), "reason": "The runbook says so."}
    collapsed = json.loads(json.dumps(policies.EXAMPLE))
    collapsed["program"]["questions"][0]["text"] = "Should a reviewer block this?"
    checked = mia.post(
        "/policies/new/", {**fields, "policy": json.dumps(collapsed), "act": "check"}, headers={"hx-request": "true"}
    )
    assert "verdict_word" in text(checked)
    assert "<html" not in text(checked)
    assert "cannot be drafted" in text(mia.post("/policies/new/", {**fields, "policy": "{", "act": "check"}))
    assert not Definition.objects.filter(kind="policy").exists()
    refused = mia.post("/policies/new/", {**fields, "policy": json.dumps(collapsed)})
    assert (refused.status_code, "verdict_word at q:replicas" in text(refused)) == (422, True)
    assert mia.post("/policies/new/", fields).headers["Location"] == "/policies/restarts/"
    assert Definition.objects.get(kind="policy", name="restarts").status == "draft"


def test_what_a_change_would_newly_allow_is_said_while_it_is_typed(mia: Client, define: Any) -> None:
    define("policy", "shell-commands", body("shell-commands"))
    fields = {"name": "shell-commands", "reason": "scratch folders", "act": "check"}
    for changed, words in (
        (
            looser(),
            "<b>1 of 192</b> cells are newly allowed beside version 1: </p><ul><li>action removes, place elsewhere",
        ),
        (body("shell-commands"), "No cell is newly allowed beside version 1; 0 of 192 are decided otherwise."),
    ):
        said = {**fields, "policy": json.dumps(changed)}
        for headers in ({"hx-request": "true"}, {}):  # the whole page says the same to who has no JavaScript
            page = text(mia.post("/policies/shell-commands/new/", said, headers=headers))
            assert " ".join(words.split()) in page.replace(":</p>", ": </p>")


def test_consequences_that_nobody_asks_about_are_shown(mia: Client, define: Any) -> None:
    define("policy", UNTRIED, body("shell-commands"))
    page = mia.get("/policies/")
    asked = {line.family: list(line.questions[0]) for line in page.context["covered"]}
    assert asked["loss"] == ["action", "place", "regenerable", "tracked"]
    assert (asked["secrets"], asked["money"]) == ([], [])
    assert text(page).count("nobody asks</span>") == sum(not questions for questions in asked.values())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"title": " "}, "A policy is {title, program, cases}"),
        ({"more": 1}, "A policy is {title, program, cases}"),
        ({"cases": [{"title": "no answers"}]}, "a case is {title, answers"),
        (
            {"cases": [{"title": ["x"], "answers": {}, "expect": {"verdict": "allow", "rule": None}}]},
            "a case is {title",
        ),
        ({"cases": [{"title": "wrong", "answers": {}, "expect": {"verdict": "allow", "rule": None}}]}, "wrong"),
        ({"program": {}}, "no_questions at program"),
        ({"covers": {"nobody": ["loss"]}}, "no question nobody"),
        ({"covers": {"replicas": ["luck"]}}, "What replicas covers"),
        ({"covers": ["loss"]}, "each question with a list of families"),
    ],
)
def test_what_cannot_be_a_policy(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as refusal:
        policies.check("restarts", {**policies.EXAMPLE, **change})
    assert sentence in str(refusal.value)


def test_whoever_is_on_call_reads_and_changes_nothing(make_person: Any, define: Any) -> None:
    define("policy", "shell-commands", body("shell-commands"))
    client = Client()
    client.force_login(make_person("jo", "on_call"))
    assert client.get("/policies/shell-commands/").status_code == 200
    assert "Draft a change" not in text(client.get("/policies/shell-commands/"))
    assert client.get("/policies/new/").status_code == 403
    for act in ("observation", "activation"):
        assert client.post(f"/policies/shell-commands/versions/1/{act}/").status_code == 403
