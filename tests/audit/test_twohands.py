from __future__ import annotations

import threading

import pytest
from django.db import DatabaseError, connection, transaction

from audit import reading, twohands
from audit.kinds import Kind
from audit.models import Definition, Entry
from audit.twohands import NotAllowed

pytestmark = pytest.mark.usefixtures("gadgets")
BODY = {"size": "small", "parts": [1, 2]}


@pytest.fixture
def ada(make_person):
    return make_person("ada", "admin", "Ada Okafor")


@pytest.fixture
def mia(make_person):
    return make_person("mia", "admin", "Mia Lindqvist")


def draft(by, name="lamp", body=None, reason="because"):
    return twohands.draft("gadget", name, body or BODY, by=by, reason=reason)


@pytest.mark.django_db
def test_a_second_person_activates(ada, mia) -> None:
    version = twohands.activate(draft(ada).pk, by=mia)
    assert twohands.active("gadget", "lamp") == version
    assert (version.version, version.drafted_by, version.activated_by, version.solo) == (1, ada, mia, False)


@pytest.mark.django_db
def test_the_person_who_drafted_may_not_activate(ada, mia) -> None:
    version = draft(ada)
    with pytest.raises(NotAllowed, match="someone else must activate it"):
        twohands.activate(version.pk, by=ada)
    assert twohands.active("gadget", "lamp") is None
    assert not Entry.objects.filter(kind=Kind.DEFINITION_ACTIVATED, subject="gadget lamp v1").exists()


@pytest.mark.django_db
def test_a_version_that_is_not_as_the_log_says_is_not_activated(ada, mia) -> None:
    """Whoever can write into the database could draft in another's name, and be the second hand to it."""
    for change in ({"drafted_by": mia}, {"body": {"size": "huge"}}, {"reason": "So."}):
        version = draft(ada, body={"size": str(change)})
        Definition.objects.filter(pk=version.pk).update(**change)
        for by in (ada, mia):
            with pytest.raises(NotAllowed, match="does not say that this version was drafted as it stands here"):
                twohands.activate(version.pk, by=by)


@pytest.mark.django_db
def test_until_there_is_a_second_admin_one_does_both_and_it_shows(ada, make_person) -> None:
    make_person("eve", "on_call")
    retired = make_person("old", "admin")
    retired.is_active = False
    retired.save(update_fields=["is_active"])
    version = twohands.activate(draft(ada, "alone").pk, by=ada)
    assert version.solo
    activations = Entry.objects.filter(kind=Kind.DEFINITION_ACTIVATED, subject="gadget alone v1")
    assert activations.filter(summary="in force, solo").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_other_roles_change_nothing(make_person, ada, role) -> None:
    eve = make_person("eve", role)
    with pytest.raises(NotAllowed, match="does not change gadgets"):
        draft(eve)
    with pytest.raises(NotAllowed, match="does not change gadgets"):
        twohands.activate(draft(ada).pk, by=eve)


@pytest.mark.django_db
def test_a_new_version_retires_the_one_in_force(ada, mia) -> None:
    first = twohands.activate(draft(ada).pk, by=mia)
    second = twohands.activate(draft(ada, body={"size": "large"}).pk, by=mia)
    first.refresh_from_db()
    assert first.status == "retired"
    assert first.retired_at is not None
    assert twohands.active("gadget", "lamp") == second
    with pytest.raises(NotAllowed, match="is retired"):
        twohands.activate(first.pk, by=mia)


@pytest.mark.django_db
def test_an_older_draft_does_not_undo_what_came_since(ada, mia) -> None:
    old = draft(ada)
    twohands.activate(draft(ada, body={"size": "large"}).pk, by=mia)
    with pytest.raises(NotAllowed, match="Version 2 of lamp was activated since"):
        twohands.activate(old.pk, by=mia)


@pytest.mark.django_db
def test_the_same_body_again_is_no_new_version(ada) -> None:
    draft(ada)
    with pytest.raises(NotAllowed, match="already says exactly this"):
        draft(ada, body={"parts": [1, 2], "size": "small"})


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "a b", "ä", "new", "a/b", "x" * 81, "a\n"])
def test_a_name_stands_in_addresses(ada, name) -> None:
    with pytest.raises(ValueError, match="A name is"):
        draft(ada, name)


@pytest.mark.django_db
@pytest.mark.parametrize("body", [{"size": "none"}, {"a": "\0"}, {"\ud800": 1}, {"a": [{"b": "x\0"}]}, {"a": 1e300}])
def test_a_body_that_is_invalid_or_cannot_be_stored_is_refused(ada, body) -> None:
    with pytest.raises(ValueError, match=r"A gadget has a size|cannot be stored|come back"), transaction.atomic():
        draft(ada, body=body)
    assert not Definition.objects.filter(kind="gadget").exists()


@pytest.mark.django_db
def test_the_text_of_an_escape_is_only_text(ada) -> None:
    assert draft(ada, body={"a": "\\u0000", "b": 0.5, "c": 10**30}).body["a"] == "\\u0000"


@pytest.mark.django_db
def test_the_digest_outlives_the_database(ada) -> None:
    version = draft(ada, body={"b": 0.1, "a": {"ä": [1.50, 10**25, True, None]}})
    stored = Definition.objects.get(pk=version.pk)
    assert twohands.digest_of("gadget", "lamp", stored.body) == stored.digest == version.digest


@pytest.mark.django_db
def test_every_change_is_in_the_log(ada, mia) -> None:
    version = twohands.activate(draft(ada, "logged").pk, by=mia)
    drafted = Entry.objects.get(kind=Kind.DEFINITION_DRAFTED, subject="gadget logged v1")
    activated = Entry.objects.get(kind=Kind.DEFINITION_ACTIVATED, subject="gadget logged v1")
    assert reading.content_of(drafted).result == BODY
    assert (drafted.actor, activated.actor) == ("Ada Okafor", "Mia Lindqvist")
    assert drafted.tool_hash == activated.tool_hash == version.digest


@pytest.mark.django_db
def test_a_diff_names_what_changed(ada) -> None:
    first = draft(ada)
    lines = twohands.diff(first, draft(ada, body={"size": "large", "parts": [1, 2]}))
    assert '-  "size": "small"' in lines
    assert '+  "size": "large"' in lines
    assert twohands.lines({"a": "x\ny", '"b': "1\n", "c": {"a": "x\ny"}, "d": "\\\\n", "e": ["\n"]}) == [
        "{", '  "\\"b":', "    | 1", "    | ", '  "a":', "    | x", "    | y", '  "c": {', '    "a":', "      | x",
        "      | y", "  },", '  "d": "\\\\\\\\n",', '  "e": [', '    "\\n"', "  ]", "}",
    ]  # fmt: skip
    assert twohands.diff(None, first)[1:] == [f"+{line}" for line in twohands.canonical_body(BODY).split("\n")]


def at_once(*acts) -> list[Exception | None]:
    """Run the acts on threads of their own; what each raised."""
    outcomes: list[Exception | None] = [None] * len(acts)
    barrier = threading.Barrier(len(acts))

    def run(index: int) -> None:
        barrier.wait()
        try:
            acts[index]()
        except Exception as raised:  # noqa: BLE001 - the test looks at whatever it was
            outcomes[index] = raised
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.django_db(transaction=True)
def test_of_two_people_who_activate_at_once_one_wins(ada, mia, make_person) -> None:
    jonas = make_person("jonas", "admin")
    version = draft(ada)
    outcomes = at_once(lambda: twohands.activate(version.pk, by=mia), lambda: twohands.activate(version.pk, by=jonas))
    (lost,) = [outcome for outcome in outcomes if outcome]
    assert isinstance(lost, NotAllowed)
    assert Definition.objects.filter(kind="gadget", name="lamp", status="active").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_drafts_at_once_are_two_versions(ada, mia) -> None:
    acts = [lambda size=size: draft(ada, body={"size": size}) for size in ("a", "b", "c", "d")]
    assert at_once(*acts) == [None] * 4
    versions = Definition.objects.filter(kind="gadget").order_by("version").values_list("version", flat=True)
    assert list(versions) == [1, 2, 3, 4]


@pytest.mark.django_db(transaction=True)
def test_the_people_plane_can_do_it_and_cannot_change_a_body(as_role, ada, mia) -> None:
    as_role("people")
    version = twohands.activate(draft(ada).pk, by=mia)
    for column in ("body = '{}'", "digest = ''", "name = 'x'", "version = 9", "drafted_by_id = 1", "reason = ''"):
        with pytest.raises(DatabaseError) as refused, connection.cursor() as cursor:
            cursor.execute(f"update audit_definition set {column} where id = %s", [version.pk])
        assert refused.value.__cause__.sqlstate == "42501"
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute("delete from audit_definition")
