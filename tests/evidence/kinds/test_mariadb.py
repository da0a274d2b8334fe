"""MariaDB as a source: what is planted into its reader is found and mended, what writes is refused, reads are exact."""

from __future__ import annotations

import contextlib
import io
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pymysql
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from audit.models import Definition, Entry
from evidence import catalog, kinds, proof, written_reads
from evidence.bounds import Limits
from evidence.errors import Problem, Refused
from evidence.kinds.mariadb import address, examining, facts, layers, reader, session
from evidence.kinds.mariadb.reader import Given, Rows
from evidence.stating import Proven, Weight
from tests.evidence.kinds import mariadb_server
from tests.evidence.kinds.mariadb_server import Server
from tests.evidence.kinds.mariadb_texts import ATTACKS, ORDINARY

BODY = {
    "kind": "mariadb",
    "reader_env": "MARIA_READER_DSN",
    "doctor_env": "MARIA_DOCTOR_DSN",
    "environment": "test",
    "schema": "shop_read",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with mariadb_server.running() as started:
        mariadb_server.prepare(started)
        yield started


@pytest.fixture(autouse=True)
def credentials(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARIA_READER_DSN", server.url("mona"))
    monkeypatch.setenv("MARIA_DOCTOR_DSN", server.url("doctor"))


@pytest.fixture
def plant(server: Server) -> Iterator[Callable[[str, str], None]]:
    left: list[str] = []

    def do(planted: str, away: str) -> None:
        left.append(away)
        server.run(*planted.split("; "))

    yield do
    server.run(*filter(None, "; ".join(left).split("; ")), "select 1")


def prove(**changes: Any) -> Proven:
    body = {**BODY, **changes}
    return kinds.KINDS["mariadb"].prove(Definition(kind="source", name="maria", version=1, body=body))


def failing(proven: Proven) -> dict[str, Any]:
    return {fact.fact: fact for fact in proven.facts if not fact.holds}


def test_a_reader_that_only_reads_is_proven(server: Server) -> None:
    proven = prove()
    assert (failing(proven), proven.role) == ({}, "mona@localhost")
    told = {fact.fact: fact.seen for fact in proven.facts}
    assert "MariaDB" in told["server"]
    assert told["transport"] == "a socket of this machine"
    assert "as shop_views@localhost" in told["definers"]
    assert int(told["tries"].split()[0]) > 30
    assert "test-mona" not in proven.address


def test_what_is_around_the_account_is_said(server: Server, plant: Any) -> None:
    plant("set global init_connect = 'set @a = 1'", "set global init_connect = ''")
    plant("set global read_only = 1", "set global read_only = 0")
    told = {fact.fact: fact for fact in prove().facts}
    assert told["init_connect"].seen == "set @a = 1"
    assert "read_only is on: it takes no writes" in told["server"].seen
    assert told["tries"].holds
    assert "refused by a server that takes no writes" in told["tries"].seen


def test_a_table_that_lies_on_another_server_is_found(server: Server, plant: Any) -> None:
    there = f"mysql://writer:test-writer@127.0.0.1:{server.port}/shop/log"
    plant("install soname 'ha_federatedx'; create table shop_read.far (line varchar(100)) engine = federated"
          f" connection = '{there}'", "drop table if exists shop_read.far")  # fmt: skip
    found = failing(prove())
    assert set(found) == {"foreign_tables"}
    assert found["foreign_tables"].seen == "far is of the engine FEDERATED"


def test_over_tcp_the_servers_certificate_is_verified_where_the_address_says_by_whom(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = f"mysql://mona:test-mona@127.0.0.1:{server.port}/shop_read"
    stranger = tmp_path / "other.pem"
    stranger.write_bytes(mariadb_server.certificate())
    told = []
    for value in (plain, f"{plain}?ssl_ca={server.ca}", f"{plain}?ssl_ca={stranger}"):
        monkeypatch.setenv("MARIA_READER_DSN", value)
        proven = prove()
        told.append(next((fact.seen for fact in proven.facts if fact.fact == "transport"), proven.facts[0].seen))
    assert told == [
        "TLS, whose certificate nobody verifies", "TLS, the server's certificate is verified", "the connection failed.",
    ]  # fmt: skip


# What is planted, the fact that finds it, and what takes away what the mending leaves.
PLANTED = [
    ("grant file on *.* to mona@localhost", "global_privileges", ""),
    ("grant super on *.* to mona@localhost", "global_privileges", ""),
    ("grant process on *.* to mona@localhost", "global_privileges", ""),
    ("grant select on *.* to mona@localhost", "global_privileges", ""),
    ("grant reload, shutdown on *.* to mona@localhost", "global_privileges", ""),
    ("grant all on *.* to mona@localhost", "global_privileges", ""),
    ("grant insert on `shop\\_read`.* to mona@localhost", "schema_privileges", ""),
    ("grant all on other.* to mona@localhost", "schema_privileges", ""),
    ("grant create temporary tables on shop.* to mona@localhost", "schema_privileges", ""),
    ("grant lock tables on shop.* to mona@localhost", "schema_privileges", ""),
    ("grant execute on shop.* to mona@localhost", "schema_privileges", ""),
    ("grant event, trigger on `shop%`.* to mona@localhost", "schema_privileges", ""),
    ("grant update on shop.jobs to mona@localhost", "table_privileges", ""),
    ("grant update (state) on shop.jobs to mona@localhost", "table_privileges", ""),
    ("grant insert (id, state), select (id) on shop.jobs to mona@localhost", "table_privileges", ""),
    ("grant delete on shop_read.jobs to mona@localhost", "table_privileges", ""),
    ("grant references on shop.jobs to mona@localhost", "table_privileges", ""),
    ("grant delete history on shop.jobs to mona@localhost", "table_privileges", ""),
    ("grant execute on function shop.touch to mona@localhost", "routines", ""),
    ("grant alter routine on function shop.touch to mona@localhost", "routines", ""),
    ("grant readers to mona@localhost", "roles", ""),
    ("grant insert on shop.* to readers; grant readers to mona@localhost; set default role readers for mona@localhost",
     "roles", "revoke insert on shop.* from readers"),
    ("grant readers to mona@localhost with admin option", "roles", ""),
    ("grant proxy on doctor@localhost to mona@localhost", "proxies", ""),
    ("grant select on `shop\\_read`.* to mona@localhost with grant option", "grant_option", ""),
    ("grant usage on *.* to mona@localhost with grant option", "grant_option", ""),
    ("grant insert on shop.* to public", "everyone", ""),
    ("grant select on shop.log to public", "everyone", ""),
    ("grant execute on function shop.touch to public", "everyone", ""),
    ("insert into mysql.db (host, db, user, insert_priv) values ('%', 'other', '', 'Y'); flush privileges", "everyone",
     ""),
    ("grant select on other.* to mona@localhost", "elsewhere", ""),
    ("grant select on other.secrets to mona@localhost", "elsewhere", ""),
    ("grant select (word) on other.secrets to mona@localhost", "elsewhere", ""),
    ("grant select on mysql.* to mona@localhost", "elsewhere", ""),
    ("revoke select on `shop\\_read`.* from mona@localhost; grant select on shop_read.* to mona@localhost", "elsewhere",
     ""),
    ("alter user mona@localhost with max_user_connections 0", "connection_limit", ""),
    # From another host the reader is another account.
    ("create user mona@`10.%`; grant insert on shop.* to mona@`10.%`", "schema_privileges", "drop user mona@`10.%`"),
    ("create user mona@`%`; grant super on *.* to mona@`%`", "global_privileges", "drop user mona@`%`"),
    ("create user ``@localhost", "account", ""),
]  # fmt: skip


@pytest.mark.parametrize(("planted", "fact", "away"), PLANTED, ids=[f"{row[1]}-{at}" for at, row in enumerate(PLANTED)])
def test_what_is_planted_is_found_and_mended_by_what_its_fact_says(
    server: Server, plant: Any, planted: str, fact: str, away: str
) -> None:
    plant(planted, away)
    proven = prove()
    found = failing(proven)
    assert fact in found, found.keys()
    assert not proven.holds
    # As root, for whoever mends may do more than whoever looks.
    server.run(*(text.strip() for one in found.values() for text in one.mend.split(";") if text.strip()[:6].isupper()))
    assert failing(prove()) == {}


VIEWS = [
    ("create view shop_read.bad as select shop.touch() as a", "it calls touch"),
    ("create definer = root@localhost view shop_read.bad as select id from shop.jobs where shop.touch() = 1",
     "it calls touch"),
    ("create view shop.inner_one as select shop.touch() as a;"
     " create view shop_read.bad as select a from shop.inner_one", "it calls touch"),
    ("create sequence shop.numbers; create definer = root@localhost view shop_read.bad as"
     " select nextval(shop.numbers) as a", "it calls nextval"),
    ("create view other.inner_one as select 1 as a; create view shop_read.bad as select a from other.inner_one",
     "does not see"),
]  # fmt: skip


@pytest.mark.parametrize(("planted", "why"), VIEWS)
def test_a_view_that_calls_a_stored_function_is_found(server: Server, plant: Any, planted: str, why: str) -> None:
    plant(
        planted,
        "drop view if exists shop_read.bad, shop.inner_one, other.inner_one; drop sequence if exists shop.numbers",
    )
    found = failing(prove())
    assert set(found) == {"views"}
    assert why in found["views"].seen
    # And the later line holds by itself: such a view writes where nothing is around it, in a guarded read it cannot.
    if "touch" in why:
        before = server.run("select count(*) from shop.log")
        assert refused("select * from bad").code == "write_refused"
        assert server.run("select count(*) from shop.log") == before


def test_a_credential_that_writes_is_never_served(
    server: Server, monkeypatch: pytest.MonkeyPatch, define: Any, client: Client, make_person: Any
) -> None:
    monkeypatch.setenv("MARIA_READER_DSN", server.url("writer"))
    source = define("source", "maria", BODY)
    before = server.run("checksum table shop.jobs, shop.log")
    certificate = proof.certify(source)
    failed = {fact["fact"]: fact for fact in certificate.facts if not fact["holds"]}
    assert {"schema_privileges", "tries"} <= set(failed)
    assert "it came through" in failed["tries"]["seen"]
    assert server.run("checksum table shop.jobs, shop.log") == before
    with pytest.raises(Problem, match="is not read, for this is not true"):
        proof.require(source)
    out = io.StringIO()
    with pytest.raises(CommandError, match="stays dark"):
        call_command("prove_reader", "maria", stdout=out)
    assert "REVOKE ALL PRIVILEGES ON `shop\\_read`.* FROM `writer`@`localhost`;" in out.getvalue()
    assert "PASSWORD" not in out.getvalue()
    client.force_login(make_person("mia", "admin"))
    page = client.get("/sources/maria/").content.decode()
    assert "REVOKE ALL PRIVILEGES ON `shop\\_read`.* FROM `writer`@`localhost`;" in page
    assert "Changing tables, rights and accounts, which commits by itself" in page


def test_root_is_refused_with_the_reason(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARIA_READER_DSN", f"mysql://root@localhost/shop_read?unix_socket={server.socket}")
    found = failing(prove())
    assert {"global_privileges", "grant_option", "tries"} <= set(found)
    assert "ALL PRIVILEGES on *.*" in found["global_privileges"].seen


def test_what_may_be_left_to_later_lines_is_served_when_the_source_accepts_it(server: Server, plant: Any) -> None:
    plant("grant select on other.* to mona@localhost", "revoke select on other.* from mona@localhost")
    assert prove(accepts=["elsewhere"]).holds
    assert not prove().holds
    with pytest.raises(ValueError, match="cannot be left to later lines"):
        kinds.KINDS["mariadb"].check_source("maria", {**BODY, "accepts": ["schema_privileges"]})


def test_what_the_doctor_cannot_see_does_not_hold(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARIA_DOCTOR_DSN", server.url("writer"))
    found = failing(prove())
    assert "could not be seen" in found["understood"].seen
    monkeypatch.setenv("MARIA_DOCTOR_DSN", server.url("mona"))
    assert "another_doctor" in failing(prove())


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "needs the environment variable MARIA_READER_DSN"),
        ("mysql://mona:hunter2@localhost/shop_read?unix_socket=/nowhere", "the connection failed"),
        ("mysql://mona:hunter2@localhost/shop_read?init_command=drop", "is no address like"),
        ("mysql://mona:hunter2@localhost/shop_read?local_infile=1", "is no address like"),
        ("postgresql://mona:hunter2@localhost/shop_read", "is no address like"),
        ("mysql://mona:hunter2@localhost", "is no address like"),
        ("mysql://mona:hunter2@localhost:x/shop_read", "is no address like"),
    ],
)
def test_a_credential_that_does_not_lead_there_is_said_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, value: str, says: str
) -> None:
    monkeypatch.setenv("MARIA_READER_DSN", value)
    proven = prove()
    assert set(failing(proven)) == {"reached"}
    assert says in proven.facts[0].seen
    assert "hunter2" not in json.dumps([vars(fact) for fact in proven.facts])


def test_an_account_that_the_doctor_does_not_see_is_not_proven(server: Server) -> None:
    at = address.parsed(server.url("doctor"))
    assert at is not None
    with session.opened(at, 5, "a test") as doctor:
        found = {fact.fact: fact for fact in examining.of_account(doctor, "stranger@localhost", BODY)}
    assert not found["account"].holds
    assert found["account"].seen == "the doctor sees no account stranger@localhost"


def test_the_address_must_lead_to_the_exposed_schema(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARIA_READER_DSN", server.url("mona", "information_schema"))
    assert "schema" in failing(prove())


def test_the_printed_statements_make_a_reader_that_is_proven(
    server: Server, monkeypatch: pytest.MonkeyPatch, define: Any, db: None
) -> None:
    monkeypatch.setenv("MARIA_READER_DSN", server.url("newcomer"))
    define("source", "maria", BODY)
    out = io.StringIO()
    call_command("reader_role", "maria", stdout=out)
    statements = [line.partition("; --")[0].rstrip(";") for line in out.getvalue().splitlines() if line[:1].isupper()]
    server.run(*statements, "alter user newcomer@`%` identified by 'test-newcomer' account unlock")
    try:
        assert failing(prove()) == {}
        again = io.StringIO()
        call_command("reader_role", "maria", stdout=again)
        assert "\nCREATE USER" not in again.getvalue()
        assert "REVOKE" not in again.getvalue()
    finally:
        server.run("drop user newcomer@`%`")


def test_the_layer_report_names_facts_that_there_are() -> None:
    claims = {claim.name for claim in vars(facts).values() if isinstance(claim, facts.Claim)}
    named = {name for attack in layers.ATTACKS for name in attack.facts}
    assert named <= claims | {"tries"}
    told = {attack.name: attack.later for attack in layers.ATTACKS}
    assert told["Changing tables, rights and accounts, which commits by itself"] == layers.PARSER
    layered = {claim.name for claim in vars(facts).values()
               if isinstance(claim, facts.Claim) and claim.weight is Weight.LAYER}  # fmt: skip
    assert layered == facts.ACCEPTABLE


def read(sql: str, *given: Any, limits: Limits | None = None, is_utc: bool = False, server: Server) -> Rows:
    at = address.parsed(server.url("mona"))
    assert at is not None
    values = [one if isinstance(one, Given) else Given(one) for one in given]
    return reader.read(at, sql, values, limits=limits or Limits(), is_utc=is_utc)


def test_values_come_exact(server: Server) -> None:
    first, second, third = read("select * from jobs order by id", server=server).rows
    assert first == {
        "id": 1, "state": "completed", "amount": Decimal("12.1000"), "created_at": "2026-01-02T03:04:05.678+00:00",
        "finished": "2026-01-02T05:00:00", "content": {"base64": "AP9h"}, "flags": 5, "ratio": Decimal("0.1"),
        "doc": '{"a": 1.10}',
    }  # fmt: skip
    assert str(first["amount"]) == "12.1000"
    assert (second["amount"], second["content"], second["finished"]) == (None, None, None)
    assert third["amount"] == Decimal("9999999999999999.9999")
    assert (third["state"], third["finished"]) == ("naïve 日本", "0000-00-00T00:00:00")
    assert third["content"] == {"base64": "dGV4dA=="}  # bytes that happen to be letters are bytes
    utc = read("select finished from jobs where id = 1", server=server, is_utc=True).rows
    assert utc == [{"finished": "2026-01-02T05:00:00+00:00"}]


@pytest.mark.parametrize(
    ("value", "back"),
    [
        ("plain", "plain"), ("it's \\ \" -- /*! */ ; ?", "it's \\ \" -- /*! */ ; ?"), ("", ""),
        ("日本 🎈\n", "日本 🎈\n"),
        (-5, -5), (2**63, 2**63), (Decimal("12.10"), Decimal("12.10")), (True, 1), (None, None),
        ({"a": [1, Decimal("1.10")]}, '{"a":[1,1.10]}'),
        (Given("2026-01-02T03:04:05+02:00", "date-time"), "2026-01-02 01:04:05"),
    ],
)  # fmt: skip
def test_a_value_means_itself_wherever_it_stands(server: Server, value: Any, back: Any) -> None:
    found = read("select ? as a, id from jobs where id=? and 1--?=1-(-?)", value, 1, 3, 3, server=server).rows
    assert found == [{"a": back, "id": 1}]


def test_a_moment_finds_the_row_whatever_its_offset(server: Server) -> None:
    asked = "select id from jobs where finished = ?"
    assert read(asked, Given("2026-01-02T07:00:00+02:00", "date-time"), server=server).rows == [{"id": 1}]
    told = read(asked, "2026-01-02T05:00:00Z", server=server)  # as a mere text the server misreads it, and says so
    assert told.incomplete == ("value_misread",)


def refused(sql: str, *given: Any, limits: Limits | None = None, server: Server | None = None) -> Refused:
    at = address.parsed(os.environ["MARIA_READER_DSN"])
    assert at is not None
    with pytest.raises(Refused) as caught:
        reader.read(at, sql, [Given(one) for one in given], limits=limits or Limits(seconds=1))
    return caught.value


@pytest.mark.parametrize(
    ("sql", "given", "code"),
    [
        ("select * from other.secrets", [], "forbidden_name"),
        ("select id, id from jobs", [], "duplicate_columns"),
        ("select nothing from jobs", [], "database"),
        ("select id from jobs where id = ?", [], "parameters"),
        ("select id from jobs limit ?", ["x"], "database"),
        ("select ? as a", [Decimal(10) ** 70], "parameters"),
        ("select ? as a", ["\ud800"], "parameters"),
        ("with recursive n as (select 1 as i union all select i + 1 from n where i < 900)"
         " select count(*) as n from n a, n b, n c where md5(a.i + b.i + c.i) = 'x'", [], "timeout"),
    ],
)  # fmt: skip
def test_what_is_not_served_says_why(server: Server, sql: str, given: list[Any], code: str) -> None:
    assert refused(sql, *given).code == code


def test_what_took_too_long_does_not_go_on(server: Server) -> None:
    endless = (
        "select count(*) as n from jobs a, jobs b, jobs c, jobs d, jobs e, jobs f, jobs g, jobs h, jobs i, jobs j,"
    )
    slow = f"{endless} jobs k, jobs l, jobs m, jobs n where md5(concat(a.id, b.id, n.id)) = 'x'"
    assert refused(slow, limits=Limits(seconds=0.3)).code == "timeout"
    running = "select count(*) from information_schema.processlist where user = 'mona' and info is not null"
    assert server.run(running) == [(0,)]


def test_a_lock_is_not_waited_for(server: Server) -> None:
    with server.connect() as other, other.cursor() as cursor:
        cursor.execute("lock tables shop.jobs write")
        assert refused("select id from jobs", limits=Limits()).code == "locked"


def test_the_servers_own_settings_are_not_taken_over(server: Server) -> None:
    assert read("select \"it\\\"s\" as a, 'x\\'y' as b", server=server).rows == [{"a": 'it"s', "b": "x'y"}]


def test_eight_reads_run_at_once(server: Server) -> None:
    with server.connect() as other, other.cursor() as cursor, ThreadPoolExecutor(8) as pool:
        cursor.execute("lock tables shop.jobs write")
        begun = time.monotonic()
        told = list(pool.map(lambda _: refused("select id from jobs", limits=Limits()).code, range(8)))
        # Each waits a second for the lock, and they do so together.
        assert (told, time.monotonic() - begun < 4) == (["locked"] * 8, True)


def test_rows_and_bytes_are_cut_and_said_to_be(server: Server) -> None:
    many = "with recursive n as (select 1 as i union all select i + 1 from n where i < 900) select i from n order by i"
    found = read(many, limits=Limits(rows=3), server=server)
    assert (found.truncated, found.rows) == (True, [{"i": 1}, {"i": 2}, {"i": 3}])
    wide = read("select id, repeat('x', 2000) as a from jobs", limits=Limits(bytes=5000), server=server)
    assert (wide.truncated, len(wide.rows)) == (True, 2)


def test_a_value_that_is_larger_than_everything_together_is_never_in_memory_whole(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    real = pymysql.connections.Connection._read_bytes

    def counted(self: Any, number: int) -> bytes:
        taken.append(number)
        return bytes(real(self, number))

    monkeypatch.setattr(pymysql.connections.Connection, "_read_bytes", counted)
    huge = read("select repeat('x', 8000000) as a", limits=Limits(bytes=10_000), server=server)
    assert (huge.truncated, huge.rows) == (True, [])
    assert sum(taken) < 200_000


def test_what_the_server_warns_of_makes_an_answer_incomplete(server: Server) -> None:
    stopped = (
        "with recursive n as (select 1 as i union all select i + 1 from n where i < 5000) select count(*) n from n"
    )
    assert read(stopped, server=server).incomplete == ("result_incomplete",)
    assert read("select id from jobs where state = 0", server=server).incomplete == ("value_misread",)
    assert read("select repeat('x', 99000000) is null as a", server=server).incomplete == ("value_too_large",)
    assert read("select id from jobs where id = 1", server=server).incomplete == ()


def test_a_read_whose_transaction_is_not_the_read_only_one_is_an_incident(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = reader._begin

    def ended(connection: Any, limits: Limits) -> None:
        begin(connection, limits)
        connection.query("COMMIT")

    monkeypatch.setattr(reader, "_begin", ended)
    assert refused("select n from counted").code == written_reads.WROTE


def test_nothing_of_a_read_is_left_and_a_restart_between_two_is_survived(server: Server) -> None:
    assert read("select n from counted", server=server).rows == [{"n": 3}]
    server.stop()
    assert refused("select n from counted").code == "unreachable"
    server.start()
    assert read("select n from counted", server=server).rows == [{"n": 3}]
    assert server.run("select count(*) from information_schema.processlist where user = 'mona'") == [(0,)]


STATE = (
    "select table_schema, table_name, table_type from information_schema.tables order by 1, 2",
    "checksum table shop.jobs, shop.log, other.secrets, mysql.db, mysql.proc, mysql.event, mysql.plugin, mysql.servers",
    "select user, host, priv from mysql.global_priv order by 1, 2",
    "select @@global.max_connections, @@global.read_only, @@global.sql_mode",
)
# What an account may do to itself, whatever it holds: no privilege stops these, so only the parser does.
ITS_OWN = ("set password", "alter user mona", "alter user current_user")


def state(server: Server) -> list[Any]:
    return [server.run(query) for query in STATE]


def test_no_attack_is_served_and_the_credential_alone_lets_none_change_anything(server: Server) -> None:
    before = state(server)
    served = []
    for text in ATTACKS:
        try:
            served.append((text, read(text, server=server).rows))
        except Refused:
            continue
    assert served == []
    for text in (text for text in ATTACKS if "sleep" not in text and not text.startswith(ITS_OWN)):
        with server.connect("mona", "test-mona", database="shop_read", read_timeout=2) as bare, bare.cursor() as cursor:
            cursor.execute("set session max_statement_time = 0.2, lock_wait_timeout = 1")
            with contextlib.suppress(pymysql.MySQLError, UnicodeError):
                cursor.execute(text)
    assert state(server) == before


# MySQL has these, and this MariaDB has not, so it looks for stored functions; and no index of the shop is called so.
NOT_HERE = (
    "execute command denied",
    "unknown",
    "doesn't exist",
    "not allowed",
    "full-text",
    "fulltext",
    "syntax",
    "window frame",
)


@pytest.mark.parametrize("text", [text for text in ORDINARY if "?" not in text])
def test_an_ordinary_read_comes_to_the_server_and_is_served(server: Server, text: str) -> None:
    try:
        read(text, server=server)
    except Refused as refusal:
        told = refusal.sentence.lower()
        if refusal.code not in ("database", "denied") or not any(words in told for words in NOT_HERE):
            raise


@pytest.fixture
def ask(define: Any, asker: Any, scope_of: Any) -> Callable[..., dict[str, Any]]:
    """Call a tool that reads the proven shop."""
    certificate = proof.certify(define("source", "maria", {**BODY, "query": True}))
    assert certificate.holds, certificate.facts
    scope_of(asker[0], "find_it", "query")

    def do(text: str, shape: str, name: str = "find_it", **given: Any) -> dict[str, Any]:
        schema = {"type": "object", "properties": {key: {"type": "string"} if key == "sql" else {} for key in given}}
        if shape == "query":
            schema["required"] = ["sql"]
        body = {
            "purpose": "One.", "source": "maria", "query_type": "state", "input_schema": schema,
            "output_schema": {"type": "object"}, "sql": text, "parameters": list(given), "shape": shape,
            "read_only": True, "returns_action_recommendations": False, "visibility_scope": "live", "limitations": [],
        }  # fmt: skip
        define("tool", name, body)
        return catalog.call(asker[0], name, given, None)

    return do


@pytest.mark.django_db
def test_tools_of_every_shape_read_it_and_each_call_is_an_entry(ask: Any, asker: Any) -> None:
    one = ask("select id, state from jobs where id = ?", "row", job_id=2)
    assert one["result"] == {"row": {"id": 2, "state": "failed"}}
    entry = Entry.objects.get(seq=int(one["audit_id"].removeprefix("A-")))
    assert (entry.source, entry.status) == ("maria", "ok")
    object_ = ask("select json_object('job', json_object('id', id, 'amount', amount)) as result from jobs where id = ?",
                  "object", job_id=1)  # fmt: skip
    assert object_["result"] == {"job": {"id": 1, "amount": Decimal("12.1000")}}
    own = ask("", "query", "query", sql="select count(*) as n from jobs")
    with pytest.raises(Problem, match="Tables are read in the schema shop_read alone"):
        catalog.call(asker[0], "query", {"sql": "select * from other.secrets limit 1"}, None)
    assert own["result"] == {"columns": ["n"], "rows": [{"n": 3}]}
    warned = ask("select id from jobs where state = ?", "rows", state=0)
    assert (warned["truncated"], warned["incomplete"]) == (True, ["value_misread"])
    with pytest.raises(ValueError, match=r"has 1 times \?, but there are 0 parameters"):
        ask("select id from jobs where id = ?", "row")
