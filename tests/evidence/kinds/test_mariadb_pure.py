"""What MariaDB's kind decides without a server: the grammar, what SHOW GRANTS says, literals, warnings."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.errors import Refused
from evidence.kinds.mariadb import address, completeness, grammar, grants, literals
from evidence.kinds.mariadb.functions import FUNCTIONS, WORDS
from tests.evidence.kinds.mariadb_texts import ATTACKS, ORDINARY


@pytest.mark.parametrize("text", ATTACKS)
def test_no_attack_is_a_read(text: str) -> None:
    with pytest.raises(Refused):
        grammar.check(text, "shop_read")


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_read_is_one(text: str) -> None:
    assert grammar.check(text, "shop_read").placeholders == text.count("?")


_DANGEROUS = """
sleep benchmark get_lock release_lock release_all_locks is_free_lock is_used_lock load_file last_insert_id
nextval lastval setval master_pos_wait master_gtid_wait wait_for_executed_gtid_set user current_user
session_user system_user current_role connection_id password old_password encrypt sys_exec sys_eval uuid_short
row_count found_rows name_const extractvalue updatexml load data into outfile dumpfile handler call execute
prepare set
"""
DANGEROUS = frozenset(_DANGEROUS.split())


def test_no_function_that_does_more_than_compute_is_on_the_list() -> None:
    assert not (FUNCTIONS | WORDS) & DANGEROUS


@given(st.text(max_size=60), st.sampled_from(["--", "#", "/*", "-- ", "'", '"', "`", "\\", ";", "/*!", "*/", "?"]))
def test_whatever_the_text_it_is_refused_in_words_or_sent_without_comments(text: str, mark: str) -> None:
    for asked in (text, f"select 1 {mark} {text}", f"select '{text}{mark}' as a", f"select 1 as a /* {text} */"):
        try:
            sent = "?".join(grammar.check(asked, "shop_read").pieces)
        except Refused:
            continue
        assert not any(run in sent for run in grammar.RUN)
        assert [(token.token_type, token.text) for token in grammar._tokens(sent)] == [
            (token.token_type, token.text) for token in grammar._tokens(asked)
        ]


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\f", "\v", "\x00", "\ufeff"])
def test_what_only_looks_like_a_space_is_refused(space: str) -> None:
    with pytest.raises(Refused):
        grammar.check(f"select 1{space}as a", "s")


def test_a_comment_is_not_sent_and_minus_minus_is_none() -> None:
    assert grammar.check("select 1 -- drop\n as a", "s").pieces == ("select 1 as a",)
    assert grammar.check("select 5--1 as a", "s").pieces == ("select 5--1 as a",)
    assert grammar.check("select ? as a, '?' as b, `?` from jobs where c=?;", "s").pieces == (
        "select ", " as a, '?' as b, `?` from jobs where c=", "",
    )  # fmt: skip


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_is_written_in_letters_that_mean_nothing(value: str) -> None:
    written = literals.literal(value)
    assert written.startswith("_utf8mb4 X'")
    assert bytes.fromhex(written[11:-1]).decode() == value


@pytest.mark.parametrize(
    ("value", "format_", "written"),
    [
        (None, "", "NULL"), (True, "", "TRUE"), (False, "", "FALSE"), (7, "", "7"), (-7, "", "(-7)"),
        (Decimal("1E+3"), "", "1000"), (Decimal("-0.10"), "", "(-0.10)"),
        ("2026-01-02T03:04:05.5-01:00", "date-time", literals.literal("2026-01-02 04:04:05.500000")),
    ],
)  # fmt: skip
def test_a_value_is_written_as_the_server_reads_it(value: Any, format_: str, written: str) -> None:
    assert literals.literal(value, format_) == written


@pytest.mark.parametrize("value", [Decimal("1E+99999999"), Decimal("1E-99999999"), 10**70, Decimal("0." + "1" * 70)])
def test_a_number_that_no_database_keeps_is_refused_before_it_is_written_out(value: Any) -> None:
    with pytest.raises(Refused, match="65 digits"):
        literals.literal(value)


@pytest.mark.parametrize("value", ["2026-01-02", "2026-01-02T03:04:05", "yesterday", ""])
def test_a_moment_without_an_offset_is_none(value: str) -> None:
    with pytest.raises(Refused, match="2026-01-02T03:04:05Z"):
        literals.literal(value, "date-time")


LINES = [
    "GRANT USAGE ON *.* TO `reader`@`%` IDENTIFIED BY PASSWORD '*D8 GRANT OPTION' WITH MAX_QUERIES_PER_HOUR 9",
    "GRANT SELECT ON `shop\\_read`.* TO `reader`@`%`",
    "GRANT SELECT (`id`, `a, b`), INSERT (`x``y`) ON `shop`.`jobs TO x` TO `reader`@`%` WITH GRANT OPTION",
    "GRANT EXECUTE ON PACKAGE BODY `shop`.`p` TO `reader`@`%`",
    "GRANT `admins` TO `reader`@`%` WITH ADMIN OPTION",
    "GRANT `a`@`%`,`b`@`%` TO `reader`@`%`",
    "SET DEFAULT ROLE `admins` FOR `reader`@`%`",
    "GRANT PROXY ON ''@'%' TO 'reader'@'%' WITH GRANT OPTION",
    "GRANT BACKUP_ADMIN,XA_RECOVER_ADMIN ON *.* TO `reader`@`%`",
    "REVOKE INSERT ON `shop`.* FROM `reader`@`%`",
]


def test_what_a_view_calls_is_told_by_how_the_server_writes_it() -> None:
    text = (
        "select `shop`.`touch`() AS `a`,`f`(1) AS `b`,sys_exec('id') AS `c`,nextval(`shop`.`s`) AS `d`,count(0) AS `e`"
    )
    assert list(grammar.calls(text, {"sys_exec"})) == ["touch", "f", "sys_exec", "nextval"]
    assert (
        list(grammar.calls("with `c`(`a`) as (select 1) select max(`c`.`a`) from `c` where `c`.`a` in (1)", ())) == []
    )


def test_what_show_grants_says_is_taken_apart() -> None:
    held = grants.held(LINES)
    usage, select, columns, routine = held.grants
    assert (usage.names, usage.may_pass_on, usage.schema) == ({"USAGE"}, False, "*")
    assert (select.names, select.schema, select.object) == ({"SELECT"}, "shop\\_read", "*")
    assert columns.privileges == ("SELECT (`id`, `a, b`)", "INSERT (`x``y`)")
    assert (columns.schema, columns.object, columns.may_pass_on) == ("shop", "jobs TO x", True)
    assert (routine.is_of_routine, routine.type) == (True, "PACKAGE BODY")
    assert held.roles == ("`admins`", "`a`@`%`,`b`@`%`")
    assert held.proxies == ("''@'%'",)
    # What is not understood is kept, so that it never passes.
    assert held.unread == ("GRANT BACKUP_ADMIN,XA_RECOVER_ADMIN ON *.*", "REVOKE INSERT ON `shop`.*")


@given(st.text(max_size=80))
def test_no_line_is_lost(line: str) -> None:
    held = grants.held([line])
    assert len(held.grants) + len(held.roles) + len(held.proxies) + len(held.unread) == 1


WARNED = [
    ((0, []), ()),
    ((1, [("Warning", 1931)]), ("result_incomplete",)),
    ((2, [("Warning", 1260), ("Warning", 1292)]), ("group_concat_cut", "value_misread")),
    ((1, [("Warning", 4711)]), ("warned",)),
    ((1, [("Error", 1301)]), ("value_too_large",)),
    ((1, [("Note", 1003)]), ()),
    ((1, [("Warning", 1365)]), ()),
    ((100, [("Warning", 1292)]), ("value_misread", "warned")),
    ((1, []), ("warned",)),
]


@pytest.mark.parametrize(("warnings", "codes"), WARNED)
def test_a_warning_makes_an_answer_incomplete(warnings: Any, codes: tuple[str, ...]) -> None:
    assert completeness.incomplete(*warnings) == codes


@pytest.mark.parametrize(
    "option", ["init_command", "local_infile", "read_default_file", "ssl_disabled", "charset", "x"]
)
def test_an_address_sets_nothing_else_of_the_drivers(option: str) -> None:
    assert address.parsed("mysql://a:b@h/s") is not None
    assert address.parsed(f"mysql://a:b@h/s?{option}=1") is None


def test_an_address_is_shown_without_its_password() -> None:
    found = address.parsed("mariadb://re%40der:p%2Fw@db.example:3307/shop_read?ssl_ca=/etc/ca.pem")
    assert found is not None
    assert (found.user, found.password, found.port) == ("re@der", "p/w", 3307)
    assert found.shown == "mysql://re%40der@db.example:3307/shop_read?ssl_ca=/etc/ca.pem"
