"""Words of arguments and results: how they are cut, found, followed, and gone when they have to be."""

from __future__ import annotations

import html
import re
import uuid
from typing import Any

import pytest
from django.db import DatabaseError, connection
from hypothesis import given
from hypothesis import strategies as st

from audit import browse, log, notes, redacting, retention, seal, search, search_following, search_text, tasks
from audit.kinds import Kind
from audit.models import Entry, SearchState
from tests.audit.months import Months, first_of
from tests.audit.months import months as months

AGENT = log.Actor("agent", "triage-agent", "mia")
KEY = notes.SigningKey("example.com/log", bytes(range(32)))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def test_words_are_cut_at_what_is_no_letter_and_no_digit() -> None:
    assert search_text.words("shop.jobs job_id=90412, A-48213 Straße") == [
        "shop", "jobs", "job", "id", "90412", "a", "48213", "straße",
    ]  # fmt: skip


def test_a_question_asks_for_all_its_parts_and_for_neighbors_in_order() -> None:
    assert (
        search_text.question('job_id  "read timeout" 9e41*') == "('job' <-> 'id') & ('read' <-> 'timeout') & ('9e41':*)"
    )
    assert search_text.question(" *** '' \\ ") == ""


@pytest.mark.django_db
@given(json_values, json_values)
def test_whatever_was_recorded_makes_a_document_that_its_words_find(args: Any, result: Any) -> None:
    document = search_text.document(args, result)
    with connection.cursor() as cursor:
        for word in search_text.words(str(args))[:3] if isinstance(args, str) else []:
            cursor.execute("select %s::tsvector @@ %s::tsquery", [document, search_text.question(word)])
            assert cursor.fetchone() == (True,)
        cursor.execute("select length(%s::tsvector)", [document])


@pytest.mark.django_db
@given(st.text())
def test_whatever_is_typed_is_a_question_that_the_database_takes(typed: str) -> None:
    if asked := search_text.question(typed):
        with connection.cursor() as cursor:
            cursor.execute("select 'a'::tsvector @@ %s::tsquery", [asked])


def test_depth_and_length_are_no_danger() -> None:
    deep: Any = "bottom"
    for _ in range(50_000):
        deep = [deep]
    assert search_text.document(deep, None) == "'bottom':1 'null':2"
    assert search_text.document(["word"] * 50_000, None).count("'word'") == search_text.MOST_WORDS


class Log:
    """A log of its own to write to, seal and follow."""

    def __init__(self, become: Any) -> None:
        self.become = become

    def call(self, args: Any = None, result: Any = None, **about: Any) -> log.Recorded:
        self.become("agents")
        return log.record(Kind.CALL_FINISHED, AGENT, tool="find_job", args=args, result=result, **about)

    def seal(self) -> None:
        self.become("sealer")
        sealer = seal.Sealer([KEY])
        sealer.start()
        while sealer.round():
            pass
        connection.close()

    def follow(self) -> None:
        self.become("worker")
        tasks.follow_log()
        self.become("people")


@pytest.fixture
def own(own_log: str, as_role: Any) -> Log:
    return Log(as_role)


def found(typed: str, **filters: str) -> list[int]:
    return [entry.seq for entry in browse.page(browse.Filters(q=typed, **filters)).entries]


@pytest.mark.django_db(transaction=True)
class TestFollowing:
    def test_what_was_sealed_is_found_by_the_words_of_arguments_and_result(self, own: Log) -> None:
        one = own.call({"job_id": 90412, "error": "ReadTimeout"}, {"digest": "9e41c7a033d8b1f7"})
        two = own.call({"job_id": 90413}, {"note": "für später", "count": 0})
        own.seal()
        own.become("people")
        assert found("90412") == []
        assert search.progress().waiting == Entry.objects.count()
        own.follow()
        assert found("90412") == found("readtimeout") == found("9e41c7a033d8b1f7") == found("9e41*") == [one.seq]
        assert found("job_id") == [two.seq, one.seq]
        assert found("SPÄTER") == found('"für später"') == [two.seq]
        assert found("job_id 90413") == [two.seq]
        assert found('"later for"') == found("id_job") == []
        assert search.progress().waiting == 0

    def test_it_goes_on_where_it_was_and_skips_nothing(self, own: Log, monkeypatch: Any) -> None:
        monkeypatch.setattr(search_following, "BATCH", 3)
        all_of_them = []
        for count in (2, 5, 1):
            all_of_them += [own.call({"mark": "here"}).seq for _ in range(count)]
            own.seal()
            own.follow()
        assert found("here") == all_of_them[::-1]

    def test_it_can_begin_again(self, own: Log) -> None:
        one = own.call({"mark": "here"})
        own.seal()
        own.follow()
        own.become("worker")
        search_following.begin_again()
        assert SearchState.objects.get().next_leaf == 0
        own.follow()
        assert found("here") == [one.seq]

    def test_what_was_cut_is_found_by_what_is_left(self, own: Log) -> None:
        one = own.call({"mark": "before"}, "word " * 60_000 + "end")
        own.seal()
        own.follow()
        assert found("before word") == [one.seq]
        assert found("end") == []

    def test_other_filters_hold_too_and_pages_go_on(self, own: Log, monkeypatch: Any) -> None:
        monkeypatch.setattr(search, "MOST_FOUND", 5)
        monkeypatch.setattr(search, "OUT_OF_ORDER", 1)
        monkeypatch.setattr(browse, "PAGE", 3)
        seqs = [own.call({"mark": "here"}, status="failed" if n == 1 else "ok").seq for n in range(9)][::-1]
        own.seal()
        own.follow()
        filters, seen, before = browse.Filters(q="here"), [], None
        for _ in range(9):
            page = browse.page(filters, before=before)
            seen += [entry.seq for entry in page.entries]
            before = page.older
            if before is None:
                break
        assert seen == seqs
        assert browse.page(filters).counted == "4+ match"
        assert page.counted == ""  # of what is further down nothing is promised
        back = browse.page(filters, after=seqs[5])
        assert [entry.seq for entry in back.entries] == seqs[2:5]
        failed, before, steps = browse.Filters(q="here", status="failed"), None, 0
        while not (page := browse.page(failed, before=before)).entries:
            before, steps = page.older, steps + 1
        assert [entry.seq for entry in page.entries] == [seqs[7]]
        assert steps == 1

    def test_an_export_walks_the_same_entries(self, own: Log) -> None:
        one, _ = own.call({"mark": "here"}), own.call({"mark": "there"})
        own.seal()
        own.follow()
        assert [entry.seq for entry in browse.matching(browse.Filters(q="here"))] == [one.seq]

    def test_a_redaction_takes_the_words_away_and_building_anew_brings_none_back(
        self, own: Log, make_person: Any
    ) -> None:
        one = own.call({"mark": "kept"}, {"name": "secret"})
        own.seal()
        own.follow()
        own.become("owner")
        mia, jonas = make_person("mia", "admin"), make_person("jonas", "admin")
        own.become("people")
        wanted = redacting.ask(Entry.objects.get(pk=one.id), part="result", reason="a name of a person", by=mia)
        redacting.confirm(wanted.pk, by=jonas)
        assert found("secret") == found("kept") == []
        own.become("worker")
        search_following.begin_again()
        own.follow()
        assert found("secret") == []
        assert found("kept") == [one.seq]

    def test_only_the_worker_fills_it(self, own: Log) -> None:
        for process in ("people", "agents", "writer", "sealer", "auditor", "retention"):
            own.become(process)
            with pytest.raises(DatabaseError, match="permission denied"), connection.cursor() as cursor:
                cursor.execute("insert into audit_search values (%s, 1, '')", [uuid.uuid4()])

    def test_a_rare_word_does_not_walk_the_log(self, own: Log) -> None:
        own.become("owner")
        with connection.cursor() as cursor:
            cursor.execute(
                "insert into audit_search select uuidv7(), n, ('''w' || n % 1000 || ''':1')::tsvector"
                " from generate_series(1, 20000) n"
            )
            cursor.execute("select audit_analyze_search()")
            statement = search._HITS.format(bound="true", order="desc", beyond="<")
            cursor.execute("explain " + statement, ["'w7'", 1 << 62, 2000])
            plan = "\n".join(line for (line,) in cursor.fetchall())
        assert "Bitmap Index Scan on audit_search_" in plan


@pytest.mark.django_db(transaction=True)
def test_a_month_that_is_dropped_takes_its_words_along(months: Months) -> None:
    gone = months.write(6)
    kept = months.write(0)
    months.seal()
    months.become("worker")
    tasks.follow_log()
    months.become("people")
    assert found('"secret-word"') == [entry.seq for entry in [*gone, *kept]][::-1]
    months.become("retention")
    (due,) = [one for one in retention.months(first_of(0), 3) if one.month == first_of(6)]
    retention.drop(due, keep=3, by="ops")
    months.become("owner")
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from audit_search where seq = any(%s)", [[entry.seq for entry in gone]])
        assert cursor.fetchone() == (0,)


@pytest.mark.django_db(transaction=True)
def test_the_list_says_what_is_not_searchable_yet(own: Log, client: Any, make_person: Any) -> None:
    one = own.call({"mark": "here"})
    own.seal()
    own.follow()
    newer = own.call({"mark": "here"})
    own.become("owner")
    client.force_login(make_person("vera", "viewer"))
    text = html.unescape(client.get("/audit/?q=here").content.decode())
    assert re.findall(r'<td class="num"><a href="/audit/(\d+)/">', text) == [str(one.seq)]
    assert "1 newer entry is not searchable yet" in text
    assert str(newer.seq) not in re.findall(r'href="/audit/(\d+)/"', text)
    assert client.get("/audit/?q=***").status_code == 422


SHORT = st.lists(st.sampled_from(["job", "jobs", "id", "9", "90412", "a"]), max_size=8)
ASKED = st.lists(st.sampled_from(["job", "id", "job_id", "jo*", '"id job"', "9*", "a-job*", "A", "!"]), max_size=4)


@pytest.mark.django_db
@given(SHORT, ASKED)
def test_a_hit_is_held_against_an_entry_as_the_database_would(text: list[str], asked: list[str]) -> None:
    value, typed = " ".join(text), " ".join(asked)
    question = search_text.question(typed)
    with connection.cursor() as cursor:
        cursor.execute("select %s::tsvector @@ %s::tsquery", [search_text.document(value, None), question])
        (is_hit,) = cursor.fetchone()
    found = search_text.holds(search_text.phrases(typed), search_text.words_of(value, None))
    assert found is (is_hit or not question)


def test_a_row_of_the_search_that_disagrees_with_its_entry_is_marked(
    months: Months, client: Any, make_person: Any
) -> None:
    client.force_login(make_person("vera", "viewer"))
    entry, other, *_ = months.write(0)
    months.seal()
    months.become("worker")
    search_following.follow(10)
    marked = "Does not hold these words"

    def listed(typed: str) -> str:
        months.become("people")
        text = html.unescape(client.get("/audit/", {"q": typed}).content.decode())
        months.become("worker")
        return text

    assert marked not in listed("timeout 0")
    with connection.cursor() as cursor:
        forged = search_text.document({"approved": "by all"}, None)
        cursor.execute("update audit_search set doc = %s::tsvector where entry_id = %s", [forged, entry.pk])
    text = listed("approved")
    assert f"/audit/{entry.seq}/" in text
    assert text.count(marked) == 1
    assert marked not in listed("timeout")
    assert other.ref


@pytest.mark.django_db
def test_what_is_damaged_or_gone_holds_no_words(call: Any, tamper: Any) -> None:
    from audit import search_checking

    _, damaged = call(result={"word": "kestrel"})
    _, gone = call(result={"word": "kestrel"})
    _, whole = call(result={"word": "kestrel"})
    tamper("update audit_payload set result = 'x' where entry_id = %s", damaged.pk)
    tamper("delete from audit_payload where entry_id = %s", gone.pk)
    assert search_checking.disagreeing([damaged, gone, whole], "kestrel") == {damaged.pk, gone.pk}
    assert search_checking.disagreeing([whole], "merlin") == {whole.pk}
    assert search_checking.disagreeing([whole], " ") == set()
