from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from gate.writes import actions, attempts, execution, guards, preview, quorum
from gate.writes.models import Decision, PreviewRequest, WriteRequest
from tests.writes.conftest import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_mia(client: Client, mia: Any) -> Client:
    client.force_login(mia)
    return client


def page(client: Client, write: Any) -> str:
    answer = client.get(f"/writes/{write.pk}/")
    assert answer.status_code == 200
    return answer.content.decode()


def form_of(text: str) -> dict[str, str]:
    """The hidden fields of the decision form, as a browser would send them."""
    return dict(
        re.findall(r'<input type="hidden" name="(seen_version|proposal_digest|preview_digest)" value="([^"]*)">', text)
    )


def plain(text: str) -> str:
    """The page's words without markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def decide(client: Client, write: Any, text: str, **typed: str) -> Any:
    shown = {"decision": "approve", "reason": "The worker is gone.", "password": PASSWORD, **form_of(text), **typed}
    return client.post(f"/writes/{write.pk}/decision/", shown)


def test_a_preview_that_comes_while_the_page_is_made_is_not_missed(
    as_mia: Client, propose: Any, job: Any, mia: Any, monkeypatch: Any
) -> None:
    write = propose()
    request = actions.ask_preview(write, mia)
    questions: list[str] = []

    def then_it_comes(module: Any, name: str) -> None:
        first = getattr(module, name)

        def asked(write: WriteRequest) -> Any:
            found = first(write)
            if not questions:
                preview.make(request.pk)
            questions.append(name)
            return found

        monkeypatch.setattr(module, name, asked)

    then_it_comes(guards, "is_being_previewed")
    then_it_comes(quorum, "latest_preview")
    text = page(as_mia, write)
    assert questions
    assert "Approve: update 1 row" in text or f"/writes/{write.pk}/progress/" in text


def test_the_way_from_preview_to_executed(as_mia: Client, propose: Any, job: Any) -> None:
    write = propose()
    assert "Nobody has previewed this write" in page(as_mia, write)
    assert "Approve:" not in page(as_mia, write)
    assert as_mia.post(f"/writes/{write.pk}/preview/").status_code == 302
    waiting = page(as_mia, write)
    assert f'hx-get="/writes/{write.pk}/progress/?seen={write.version}"' in waiting
    assert 'name="reason"' not in waiting  # what polls holds no input
    preview.make(PreviewRequest.objects.get(write=write).pk)
    shown = page(as_mia, write)
    assert "Approve: update 1 row in shop.jobs" in shown
    assert "hx-get" not in shown.split("<main")[1]
    assert "<del>running</del>" in shown
    assert "<ins>queued</ins>" in shown
    assert "<ins>assigned at execution</ins>" in shown
    assert "Footprint: 1 row added to shop.job_events, 1 row updated in shop.jobs. Nothing else." in plain(shown)
    assert decide(as_mia, write, shown).status_code == 302
    assert "The writer runs it now." in page(as_mia, write)
    execution.execute(write.pk)
    done = page(as_mia, write)
    assert "effect equals the approved one" in done
    assert 'class="decide"' not in done
    assert job(7) == "queued"


def test_the_statement_shown_is_the_one_that_runs(as_mia: Client, propose: Any) -> None:
    write = propose("update shop.jobs set state = 'a <b> & \"c\"' where job_id = 1")
    (shown,) = re.findall(r'<pre class="code code--big">(.*?)</pre>', page(as_mia, write), re.DOTALL)
    assert " ".join(html.unescape(re.sub(r"</?b>", "", shown)).split()) == write.statement


def test_the_reason_is_labelled_plain_text_whatever_it_says(as_mia: Client, propose: Any) -> None:
    hostile = '<b>Approved by security</b> <script>x()</script> [go](http://evil.test) "><img src=x>'
    write = propose(reason=hostile, title=hostile)
    text = page(as_mia, write)
    assert "Reason given by triage-agent" in text
    assert "Plain text, not part of what is approved." in text
    assert "<b>Approved" not in text
    assert "<script>x" not in text
    assert "<img src=x" not in text
    assert 'href="http://evil.test' not in text


def test_the_owner_of_the_agent_reads_why_someone_else_must(client: Client, previewed: Any, agent: Any) -> None:
    from gate.people.models import Person

    client.force_login(Person.objects.get(pk=agent.owner_id))
    text = page(client, previewed())
    assert "You own triage-agent, which proposed this write, so someone else must approve it." in html.unescape(text)
    assert 'value="approve"' not in text
    assert 'value="reject"' in text


@pytest.mark.parametrize("role", ["viewer", "auditor", "admin"])
def test_who_decides_nothing_sees_no_button_and_why(
    client: Client, previewed: Any, make_person: Any, role: str
) -> None:
    client.force_login(make_person("someone", role))
    text = page(client, previewed())
    assert "<button" not in text.split('class="decide"')[1].split("</main")[0]
    assert "Your role decides about no writes" in text


def test_a_person_who_proposed_may_withdraw(client: Client, previewed: Any, make_person: Any) -> None:
    ada = make_person("ada", "on_call")
    client.force_login(ada)
    write = previewed(by_person=ada)
    text = page(client, write)
    assert "You proposed this write, so someone else must approve it." in text
    assert 'value="approve"' not in text
    assert decide(client, write, text, decision="withdraw", password="").status_code == 302
    assert "Withdrawn" in page(client, write)


def test_two_browsers_the_second_keeps_its_text_and_reads_what_changed(
    as_mia: Client, previewed: Any, make_person: Any
) -> None:
    write = previewed()
    second = Client()
    second.force_login(make_person("noor", "on_call"))
    hers, his = page(as_mia, write), page(second, write)
    assert decide(as_mia, write, hers, decision="reject").status_code == 302
    late = decide(second, write, his, reason="Mine was typed first.")
    text = html.unescape(late.content.decode())
    assert late.status_code == 409
    assert f"{write.ref} became rejected while you were reading." in text
    assert "Mine was typed first." in text
    assert "Mia Lindqvist rejected it" in plain(text)
    assert Decision.objects.filter(write=write).count() == 1


def test_a_new_preview_meanwhile_is_409_with_the_fresh_rows_and_the_text(
    as_mia: Client, previewed: Any, mia: Any, shop: Any
) -> None:
    write = previewed()
    seen = page(as_mia, write)
    shop.execute("update shop.jobs set locked_by = 'worker-9' where job_id = 7")
    preview.make(actions.ask_preview(write, mia).pk)
    late = decide(as_mia, write, seen, reason="Kept words.")
    text = late.content.decode()
    assert late.status_code == 409
    assert "Another preview was made while you were reading" in text
    assert "worker-9" in text
    assert ">Kept words.</textarea>" in text
    # What is shown now can be approved by a new, deliberate press.
    assert decide(as_mia, write, text).status_code == 302


def test_a_wrong_password_is_422_and_keeps_the_reason(as_mia: Client, previewed: Any) -> None:
    write = previewed()
    answer = decide(as_mia, write, page(as_mia, write), password="guess", reason="Kept words.")
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "That is not your password" in text
    assert ">Kept words.</textarea>" in text
    assert "guess" not in text
    write.refresh_from_db()
    assert write.status == "waiting"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"reason": ""}, "Write one sentence"),
        ({"password": ""}, "type your password again"),
        ({"decision": "sign"}, ""),
    ],
)
def test_what_is_missing_is_422_and_keeps_the_rest(as_mia: Client, previewed: Any, typed: Any, sentence: str) -> None:
    write = previewed()
    answer = decide(as_mia, write, page(as_mia, write), **typed)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    write.refresh_from_db()
    assert write.status == "waiting"


@pytest.mark.parametrize("path", ["decision", "preview"])
def test_deciding_takes_a_post_a_session_and_a_csrf_token(propose: Any, mia: Any, path: str) -> None:
    write = propose()
    url = f"/writes/{write.pk}/{path}/"
    stranger = Client().post(url)
    assert (stranger.status_code, stranger["Location"].startswith("/sign-in/")) == (302, True)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(mia)
    assert browser.get(url).status_code == 405
    assert browser.post(url).status_code == 403
    assert PreviewRequest.objects.filter(write=write).count() == 0


def test_an_agents_token_opens_no_page(propose: Any, make_agent: Any) -> None:
    write = propose()
    _, token = make_agent("other-agent")
    answer = Client().post(f"/writes/{write.pk}/decision/", headers={"authorization": f"Bearer {token}"})
    assert (answer.status_code, answer["Location"].startswith("/sign-in/")) == (302, True)


def test_a_stale_write_shows_what_changed_and_voids_the_approval(as_mia: Client, approved: Any, shop: Any) -> None:
    write = approved()
    shop.execute("update shop.jobs set state = 'done' where job_id = 7")
    execution.execute(write.pk)
    text = page(as_mia, write)
    assert "Nothing was written." in text
    assert "slot--void" in text
    assert "<del>running</del>" in text
    assert "<ins>done</ins>" in text
    assert f'href="/writes/new/?again={write.pk}"' in text
    assert 'value="approve"' not in text


def test_an_unknown_outcome_is_shown_as_unknown(as_mia: Client, approved: Any, monkeypatch: Any) -> None:
    write = approved()

    def lost(session: Any) -> None:
        session.close()
        raise attempts.Refused(attempts.Outcome(WriteRequest.Status.UNKNOWN, error="The connection was lost."))

    monkeypatch.setattr(execution, "_commit", lost)
    with pytest.raises(execution.TryAgain):
        execution.execute(write.pk)
    text = html.unescape(page(as_mia, write))
    assert "It is not known yet whether this was written." in text
    assert "Nothing was written" not in text


def test_a_write_that_failed_says_why(as_mia: Client, approved: Any, shop: Any) -> None:
    write = approved()
    shop.execute("alter table shop.jobs add constraint no check (state <> 'queued') not valid")
    execution.execute(write.pk)
    assert "violates check constraint" in html.unescape(page(as_mia, write))


def test_a_status_set_by_hand_is_shown_with_what_the_writer_found(as_mia: Client, previewed: Any) -> None:
    write = previewed()
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    page(as_mia, write)
    execution.execute(write.pk)
    assert "has no approval on record" in page(as_mia, write)


@pytest.mark.parametrize("status", WriteRequest.Status.values)
def test_every_status_has_a_page_and_a_row(as_mia: Client, previewed: Any, status: str) -> None:
    write = previewed()
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    page(as_mia, write)
    assert write.ref in as_mia.get("/writes/").content.decode()


def test_progress_lets_the_page_load_anew_when_the_writer_is_done(as_mia: Client, propose: Any, mia: Any) -> None:
    write = propose()
    request = actions.ask_preview(write, mia)
    running = as_mia.get(f"/writes/{write.pk}/progress/?seen={write.version}")
    assert ("HX-Refresh" not in running, 'hx-trigger="every 2s"' in running.content.decode()) == (True, True)
    assert "<input" not in running.content.decode()
    preview.make(request.pk)
    done = as_mia.get(f"/writes/{write.pk}/progress/?seen={write.version}")
    assert (done.status_code, done["HX-Refresh"]) == (200, "true")


def test_a_writer_that_does_not_come_frees_the_page(as_mia: Client, propose: Any, mia: Any) -> None:
    write = propose()
    actions.ask_preview(write, mia)
    PreviewRequest.objects.update(at=timezone.now() - timedelta(minutes=5))
    assert 'name="reason"' in page(as_mia, write)


def test_a_preview_without_an_effect_says_why_and_offers_no_approval(as_mia: Client, previewed: Any) -> None:
    text = page(as_mia, previewed("update shop.jobs set state = null"))
    assert "violates not-null constraint" in html.unescape(text)
    assert 'value="approve"' not in text


def test_a_person_proposes_by_form(as_mia: Client, target: Any) -> None:
    assert as_mia.get("/writes/new/").status_code == 200
    typed = {
        "target": "shop", "title": "Requeue", "reason": "Stuck.", "incident": "",
        "statement": "update shop.jobs set state = $1, locked_by = $2 where job_id = $3",
        "parameters": "text queued and more\ntext\nbigint 7\n",
    }  # fmt: skip
    answer = as_mia.post("/writes/new/", typed)
    assert answer.status_code == 302
    write = WriteRequest.objects.latest("pk")
    assert write.parameters == [
        {"t": "text", "v": "queued and more"},
        {"t": "text", "v": None},
        {"t": "bigint", "v": "7"},
    ]
    assert "panel drafted" in page(as_mia, write)  # dashed ink, not an agent's violet


def test_what_is_over_can_be_proposed_again_by_hand(as_mia: Client, propose: Any) -> None:
    given_ = [{"t": "text", "v": ""}, {"t": "bigint", "v": "7"}, {"t": "text", "v": None}, {"t": "text", "v": ""}]
    write = propose("update shop.jobs set state = $1 where job_id = $2 or state = $3 or state = $4", given_)
    text = as_mia.get(f"/writes/new/?again={write.pk}").content.decode()
    typed = {name: html.unescape(re.search(f'name="{name}"[^>]*>([^<]*)</textarea>', text)[1])  # type: ignore[index]
             for name in ("statement", "parameters", "reason")}  # fmt: skip
    answer = as_mia.post("/writes/new/", {"target": "shop", "title": write.title, **typed})
    assert answer.status_code == 302
    made = WriteRequest.objects.latest("pk")
    assert (made.statement, made.parameters, made.proposed_by_agent) == (write.statement, given_, None)
    for wrong in ("x", "9" * 30, "999999"):
        assert as_mia.get(f"/writes/new/?again={wrong}").status_code == 200


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"statement": "truncate shop.jobs"}, "A write is one INSERT, UPDATE or DELETE."),
        ({"parameters": "money 5"}, "Start each line with a type"), ({"title": ""}, "Say what it does"),
        ({"target": "nowhere"}, "nowhere"),
    ],
)  # fmt: skip
def test_a_proposal_that_is_refused_keeps_what_was_typed(
    as_mia: Client, target: Any, changed: Any, sentence: str
) -> None:
    typed = {
        "target": "shop",
        "title": "Requeue",
        "reason": "Kept words.",
        "statement": "delete from shop.jobs",
        **changed,
    }
    answer = as_mia.post("/writes/new/", typed)
    text = html.unescape(answer.content.decode())
    assert answer.status_code == 422
    assert sentence in text
    assert "Kept words." in text


def test_a_viewer_proposes_nothing(client: Client, target: Any, make_person: Any) -> None:
    client.force_login(make_person("vera", "viewer"))
    typed = {"target": "shop", "title": "a", "reason": "b", "statement": "delete from shop.jobs"}
    answer = client.post("/writes/new/", typed)
    assert (answer.status_code, WriteRequest.objects.count()) == (422, 0)
    assert "Your role proposes no writes" in answer.content.decode()


def test_the_list_pages_by_number_with_a_fixed_number_of_queries(
    as_mia: Client, propose: Any, django_assert_max_num_queries: Any
) -> None:
    write = propose()
    for at in range(60):
        write.pk, write._state.adding, write.title = None, True, f"Old {at:02}"
        write.status = "rejected"
        write.save()
    with django_assert_max_num_queries(16):
        first = as_mia.get("/writes/").content.decode()
    (before,) = re.findall(r"\?before=(\d+)", first)
    second = as_mia.get(f"/writes/?before={before}").content.decode()
    assert ("Old 59" in first, "Old 05" in first, "Old 05" in second, "Old 59" in second) == (True, False, True, False)
    assert as_mia.get("/writes/?before=x").status_code == 200


def test_a_write_that_is_not_there_is_404(as_mia: Client) -> None:
    assert as_mia.get("/writes/999999/").status_code == 404
