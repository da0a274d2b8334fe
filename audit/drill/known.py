"""The tamperings that we know of, each with the findings that a verification must have: one list for drill and tests.

A value that is written differs from any that may stand there, because the drill takes the log as it finds it.
"""

from __future__ import annotations

from audit.drill import forging
from audit.drill.decisions import DECISIONS
from audit.drill.guards import GUARDS
from audit.drill.tampering import (
    COPY_ENTRY,
    CUT,
    DROP_TAIL,
    ENTRY,
    LAST,
    LEAF,
    OTHER,
    UNSEALED,
    Tampering,
    codes,
    edit,
    edit_part,
    run,
    swap,
)  # fmt: skip

EDITED_TEXTS = (
    "kind", "actor", "actor_kind", "principal", "subject", "summary", "run_id", "tool", "tool_hash", "source",
    "certificate", "status", "error_class", "error", "args_sha256", "result_sha256", "writer", "writer_run",
)  # fmt: skip
KNOWN: tuple[Tampering, ...] = (
    Tampering("a character of a stored result", forging.edit_payload, codes("D2")),
    Tampering("another actor, digest made anew", forging.edit_and_rehash, codes("L1"), codes("X1")),
    Tampering(
        "an entry deleted, its leaf left",
        run(f"delete from audit_payload where entry_id = {ENTRY}", f"delete from audit_entry where id = {ENTRY}"),
        codes("L2", "G1"),
        codes("X1"),
    ),
    Tampering(
        "an entry and its leaf deleted, later leaves renumbered",
        forging.delete_and_renumber,
        codes("R1", "N1", "G1"),
        codes("C1", "C2", "X1"),
    ),
    Tampering(
        "two leaves swapped",
        run(
            "create temporary table swapped on commit drop as "
            f"select * from audit_leaf where idx in ({LEAF}, {LEAF} + 1)",
            f"delete from audit_leaf where idx in ({LEAF}, {LEAF} + 1)",
            f"insert into audit_leaf select 2 * {LEAF} + 1 - idx, entry_id, h from swapped",
        ),
        codes("R1", "N1"),
        codes("C2"),
    ),
    Tampering("the tail dropped back to a checkpoint", run(*DROP_TAIL), codes(), codes("C1", "C3", "X1")),
    Tampering(
        "the tail that is not sealed dropped",
        run(
            f"delete from audit_payload where entry_id in {UNSEALED}",
            f"delete from audit_entry where id in {UNSEALED}",
        ),
        codes(),
        codes("X1"),
    ),
    Tampering(
        "everything made anew and signed with another key", forging.rewrite_with_new_key, codes("S1"), codes("C2", "X1")
    ),
    # Further ones.
    Tampering("the salt edited", edit_part("salt", "set_byte(salt, 20, get_byte(salt, 20) # 1)"), codes("D2")),
    Tampering("the salt cut", edit_part("salt", "substr(salt, 1, 16)"), codes("D2")),
    Tampering("a payload cut", edit_part("args", "substr(args, 1, length(args) - 2)"), codes("D2")),
    Tampering("bytes after a payload", edit_part("result", "result || 'x'::bytea"), codes("D2")),
    Tampering("a payload that unpacks without end", forging.bloat_payload, codes("D2")),
    Tampering("a payload of many megabytes", edit_part("result", "decode(repeat('00', 20000000), 'hex')"), codes("D2")),
    Tampering(
        "a salt taken away",
        run(
            "alter table audit_payload alter column salt drop not null",
            f"update audit_payload set salt = null where entry_id = {ENTRY}",
        ),
        codes("D2", "M1"),
    ),
    Tampering(
        "a payload twice, the forged one first",
        run(
            "alter table audit_payload drop constraint audit_payload_pkey",
            f"create temporary table kept on commit drop as select * from audit_payload where entry_id = {ENTRY}",
            f"delete from audit_payload where entry_id = {ENTRY}",
            "insert into audit_payload select entry_id, salt, args, '\\x00', codec from kept",
            "insert into audit_payload select * from kept",
        ),
        codes("I2", "M1"),
    ),
    Tampering("payloads in the default partition", forging.move_payloads_to_default, codes("M1")),
    Tampering("a payload set to null", edit_part("result", "null"), codes("D2")),
    Tampering("another codec", edit_part("codec", "'plain'"), codes("D2")),
    Tampering("a payload deleted", run(f"delete from audit_payload where entry_id = {ENTRY}"), codes("D2")),
    Tampering("results of two entries swapped", swap("result", "audit_payload", "entry_id"), codes("D2")),
    Tampering(
        "payloads of two entries swapped",
        run(
            f"update audit_payload t set (salt, args, result) = (select salt, args, result from audit_payload o where "
            f"o.entry_id in ({ENTRY}, {OTHER}) and o.entry_id <> t.entry_id) where entry_id in ({ENTRY}, {OTHER})"
        ),
        codes("D2"),
    ),
    Tampering(
        "a result with commitment and digest made anew", forging.edit_payload_and_rehash, codes("L1"), codes("X1")
    ),
    Tampering("the commitment edited", edit("result_c", "sha256('x')"), codes("D1", "D2")),
    Tampering("the digest edited", edit("digest", "sha256('x')"), codes("D1", "L1"), codes("X1")),
    *(
        Tampering(f"{column} edited", edit(column, value), codes("D1"))
        for column, value in {
            **{name: f"{name} || 'x'" for name in EDITED_TEXTS},
            **{name: f"coalesce({name}, 0) + 1" for name in ("tool_version", "incident_id", "duration_ms")},
            **dict.fromkeys(("call_id", "parent"), "gen_random_uuid()"),
            "truncated": "not truncated",
        }.items()
    ),
    Tampering("args_bytes edited", edit("args_bytes", "args_bytes + 1"), codes("D1", "D2")),
    Tampering("writer_seq edited", edit("writer_seq", "writer_seq + 1"), codes("D1", "G1")),
    Tampering("header_version edited", edit("header_version", "2"), codes("D1", "V1")),
    Tampering("db_role edited", edit("db_role", "db_role || 'x'"), codes("L1")),
    Tampering("at moved by a microsecond", edit("at", "at + interval '1 microsecond'"), codes("L1")),
    Tampering("at moved by a year", edit("at", "at - interval '1 year'"), codes("L1", "T1")),
    Tampering("at without end", edit("at", "'infinity'"), codes("L1", "T1")),
    Tampering("seq moved", edit("seq", "seq + 1000000"), codes("L1", "Q2")),
    Tampering("seq of two entries swapped", swap("seq"), codes("L1")),
    Tampering("at of two entries swapped", swap("at"), codes("L1")),
    Tampering("the transaction moved", edit("xid", "'1'"), codes("O1")),
    Tampering("the epoch moved", edit("epoch", "0"), codes("O1")),
    Tampering(
        "the same digest under another number, leaf made to fit", forging.forge_with_leaf, codes("R1", "N1", "Q2")
    ),
    Tampering(
        "an entry again under another id",
        run(COPY_ENTRY.format(changes="'id', uuidv7(), 'xid', (select max(xid) from audit_entry)::text", entry=ENTRY)),
        codes("I1", "G2"),
    ),
    Tampering(
        "an entry again with all of it",
        run(
            COPY_ENTRY.format(changes="'id', uuidv7(), 'seq', seq + 1000000", entry=ENTRY),
            f"insert into audit_payload select (select id from audit_entry order by seq desc limit 1), salt, args, "
            f"result, codec from audit_payload where entry_id = {ENTRY}",
        ),
        codes("G2", "U1", "Q2"),
    ),
    Tampering(
        "an entry slipped in below what is sealed",
        run(
            COPY_ENTRY.format(changes="'id', uuidv7(), 'writer_run', 'forged', 'writer_seq', 1", entry=ENTRY),
        ),
        codes("U1", "D1", "I1"),
    ),
    Tampering(
        "an entry that would never be sealed",
        run(
            COPY_ENTRY.format(
                changes="'id', uuidv7(), 'xid', '999999999', 'seq', nextval('audit_entry_number')", entry=ENTRY
            )
        ),
        codes("U1", "G2"),
    ),
    Tampering("a leaf deleted", run(f"delete from audit_leaf where idx = {LEAF}"), codes("L3", "R1", "U1")),
    Tampering(
        "a leaf's hash edited",
        run(f"update audit_leaf set h = sha256('x') where idx = {LEAF}"),
        codes("L1", "R1", "N1"),
    ),
    Tampering(
        "a leaf of another entry",
        run(f"update audit_leaf set entry_id = {UNSEALED[:-1]} limit 1) where idx = {LEAF}"),
        codes("L1", "U1"),
    ),
    Tampering(
        "a leaf of no entry", run(f"update audit_leaf set entry_id = uuidv7() where idx = {LEAF}"), codes("L2", "U1")
    ),
    Tampering(
        "a leaf beyond the last checkpoint",
        run(f"insert into audit_leaf select {LAST}, uuidv7(), sha256('x')"),
        codes("L2", "L3"),
    ),
    Tampering(
        "a leaf far beyond", run("insert into audit_leaf select 9000000, uuidv7(), sha256('x')"), codes("L2", "L3")
    ),
    Tampering("a node edited", run("update audit_node set h = sha256('x') where idx = 0"), codes("N1")),
    Tampering("a node deleted", run("delete from audit_node where idx = 0"), codes("N1")),
    Tampering("a node added", run("insert into audit_node values (8, 999, sha256('x'))"), codes("N1")),
    Tampering("a node of a level that is none", run("insert into audit_node values (64, 0, sha256('x'))"), codes("N1")),
    Tampering(
        "a node twice, the forged one first",
        run(
            "alter table audit_node drop constraint audit_node_pkey",
            "create temporary table kept on commit drop as select * from audit_node",
            "delete from audit_node",
            "insert into audit_node select lvl, idx, sha256('x') from kept",
            "insert into audit_node select * from kept",
        ),
        codes("N1", "M1"),
    ),
    Tampering(
        "a node before the first",
        run(
            "alter table audit_node drop constraint audit_node_idx_check",
            "insert into audit_node values (8, -1, sha256('x'))",
        ),
        codes("N1", "M1"),
    ),
    Tampering("a checkpoint deleted", run(f"delete from audit_checkpoint where size = {CUT}"), codes(), codes("C3")),
    Tampering(
        "the last checkpoint deleted",
        run(f"delete from audit_checkpoint where size = {LAST}"),
        codes("L3"),
        codes("C1", "C3"),
    ),
    Tampering("all checkpoints deleted", run("delete from audit_checkpoint"), codes("L3"), codes("C1", "C3")),
    Tampering(
        "a checkpoint's root edited",
        run(f"update audit_checkpoint set root = sha256('x') where size = {CUT}"),
        codes("R1"),
    ),
    Tampering(
        "a checkpoint's note exchanged",
        run(
            f"update audit_checkpoint set note = (select note from audit_checkpoint where size = {LAST}) "
            f"where size = {CUT}"
        ),
        codes("R1"),
    ),
    Tampering(
        "a checkpoint's note edited",
        run(f"update audit_checkpoint set note = regexp_replace(note, '\\n\\d+\\n', E'\\n1\\n') where size = {CUT}"),
        codes("S1", "R1"),
    ),
    Tampering("a note emptied", run(f"update audit_checkpoint set note = '' where size = {CUT}"), codes("S1")),
    Tampering(
        "a line in a note that is no signature",
        run(f"update audit_checkpoint set note = note || E'approved by all\\n' where size = {CUT}"),
        codes("S1"),
    ),
    Tampering(
        "a bad signature in the name of the key",
        run(
            f"update audit_checkpoint set note = note || regexp_replace(split_part(note, E'\\n', 5), '....$', 'AAA=') "
            f"|| E'\\n' where size = {CUT}"
        ),
        codes("S1"),
    ),
    Tampering(
        "a checkpoint added",
        run(
            f"insert into audit_checkpoint select size + 1, at, root, note, epoch, last_xid, last_id "
            f"from audit_checkpoint where size = {CUT}"
        ),
        codes("R1"),
    ),
    Tampering(
        "a checkpoint twice",
        run(
            "alter table audit_checkpoint drop constraint audit_checkpoint_pkey",
            "insert into audit_checkpoint select size, at, sha256('x'), 'x', epoch, last_xid, last_id "
            f"from audit_checkpoint where size = {CUT}",
        ),
        codes("R1", "M1"),
    ),
    Tampering(
        "a checkpoint of no leaf",
        run(
            "alter table audit_checkpoint drop constraint audit_checkpoint_size_check",
            "insert into audit_checkpoint select 0, at, sha256('x'), note, epoch, last_xid, last_id "
            f"from audit_checkpoint where size = {CUT}",
        ),
        codes("R1", "M1"),
    ),
    Tampering(
        "a checkpoint of more leaves than there are",
        run(
            f"insert into audit_checkpoint select size + 99, at, root, note, epoch, last_xid, last_id "
            f"from audit_checkpoint where size = {LAST}"
        ),
        codes("R1"),
    ),
    Tampering(
        "a checkpoint's time moved",
        run(f"update audit_checkpoint set at = at + interval '1 day' where size = {CUT}"),
        codes("T1"),
    ),
    Tampering(
        "a checkpoint's time without end",
        run(f"update audit_checkpoint set at = 'infinity' where size = {CUT}"),
        codes("T1"),
    ),
    Tampering(
        "a checkpoint without a time",
        run(
            "alter table audit_checkpoint alter column at drop not null",
            f"update audit_checkpoint set at = null where size = {CUT}",
        ),
        codes("T1"),
    ),
    Tampering(
        "an entry without a number",
        run(
            "alter table audit_entry alter column seq drop identity",
            "alter table audit_entry alter column seq drop not null, alter column at drop not null, "
            "alter column actor drop not null",
            f"update audit_entry set seq = null, at = null, actor = null where id = {ENTRY}",
        ),
        codes("D1", "L1", "T1"),
    ),
    Tampering(
        "the sealer's bookmark moved",
        run(f"update audit_checkpoint set last_xid = '99999999' where size = {LAST}"),
        codes("O1", "U1"),
    ),
    Tampering(
        "an epoch added", run("insert into audit_epoch select 2, system_identifier from audit_epoch"), codes("E1")
    ),
    Tampering("an epoch edited", run("update audit_epoch set system_identifier = 1"), codes("E1")),
    Tampering("the epochs deleted", run("delete from audit_epoch"), codes("E1")),
    Tampering("the numbers set back", run("alter sequence audit_entry_number restart with 10"), codes("Q2")),
    Tampering(
        "an epoch without a number",
        run(
            "alter table audit_epoch drop constraint audit_epoch_pkey",
            "alter table audit_epoch alter column number drop not null",
            "insert into audit_epoch values (null, 5)",
        ),
        codes("E1", "M1"),
    ),
    Tampering(
        "a time of another type",
        run("drop view audit_append", "alter table audit_entry alter column at type timestamp"),
        codes("M1"),
    ),
    Tampering("a column renamed", run("alter table audit_entry rename column actor to other"), codes("M1")),
    Tampering("a table of the log dropped", run("drop table audit_node"), codes("M1")),
    Tampering("numbers by tens", run("alter sequence audit_entry_number increment by 10"), codes("M1")),
    Tampering("a column added", run("alter table audit_entry add column approved boolean default true"), codes("M1")),
    Tampering(
        "a payload without an entry",
        run(
            "insert into audit_payload select uuidv7(), salt, args, result, codec from audit_payload "
            f"where entry_id = {ENTRY}"
        ),
        codes("P1"),
    ),
    Tampering(
        "a month's entries truncated",
        forging.truncate_month,
        codes("L2", "P1"),
        codes("X1"),
    ),
    Tampering("the entry again in a month where nobody looks for it", forging.hide_in_another_month, codes("I2")),
    Tampering("an entry taken out as if by a retention", forging.prune_by_claim, codes("K2"), codes("X1")),
    Tampering("an entry changed before it is sealed", forging.edit_unsealed, codes(), codes("X1")),
    Tampering(
        "a verification that nobody has run",
        run(
            "insert into audit_verification (size, is_full, findings, finding_count, is_clean) "
            f"values ({LAST}, true, '[]', 0, true)"
        ),
        codes("W1"),
    ),
    Tampering("the record of a verification that is not there", forging.claim_verification, codes("W1"), codes("X1")),
    Tampering("an entry taken out by an unfit record", forging.prune_by_unfit_claim, codes("K2"), codes("X1")),
    Tampering(
        "an entry taken out with a month that never was",
        forging.prune_by_month_that_never_was,
        codes("K2"),
        codes("X1"),
    ),
    Tampering("what was redacted put back", forging.claim_redaction, codes("K3"), codes("X1")),
    Tampering("a month dropped before it was over", forging.prune_young_month, codes("K2"), codes("X1")),
    Tampering(
        "a month listed as dropped",
        run(
            "insert into audit_retained values ('2020-01-01', 0, 0, 1, 1, 1, 1, "
            "(select id from audit_entry limit 1), now())"
        ),
        codes("K2"),
    ),
    Tampering(
        "an entry of an epoch before all",
        run(COPY_ENTRY.format(changes="'id', uuidv7(), 'epoch', -7", entry=ENTRY)),
        codes("I1", "U1"),
    ),
    *GUARDS,
    *DECISIONS,
)
