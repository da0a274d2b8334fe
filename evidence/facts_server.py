"""What is around the role: what the server keeps for others, and what is worth knowing of it."""

from __future__ import annotations

from evidence.stating import NO_MEND, Fact, Weight

FACTS = (
    Fact(
        "prepared_transactions",
        "The server keeps no transaction that a session left prepared.",
        f"select 'max_prepared_transactions is ' || setting, {NO_MEND}"
        " from current_setting('max_prepared_transactions') setting where setting <> '0'",
        "ALTER SYSTEM SET max_prepared_transactions = 0, then restart the server.",
        Weight.LAYER,
    ),
    Fact(
        "login_triggers",
        "What runs at each sign-in to this database.",
        f"select evtname || ' calls ' || evtfoid::regprocedure, {NO_MEND} from pg_event_trigger"
        " where evtevent = 'login' and evtenabled <> 'D'",
        "",
        Weight.NOTE,
        since=170000,
    ),
    Fact(
        "event_triggers",
        "What runs at each change of this database's structure.",
        f"select evtname || ' at ' || evtevent || ' calls ' || evtfoid::regprocedure, {NO_MEND} from pg_event_trigger"
        " where evtevent <> 'login' and evtenabled <> 'D'",
        "",
        Weight.NOTE,
    ),
    Fact(
        "replication",
        "What copies this database elsewhere.",
        f"select 'publication ' || pubname, {NO_MEND} from pg_publication"
        f" union all select 'subscription ' || subname, {NO_MEND} from pg_subscription"
        " where subdbid = (select oid from pg_database where datname = current_database())"
        f" union all select 'slot ' || slot_name, {NO_MEND} from pg_replication_slots",
        "",
        Weight.NOTE,
    ),
    Fact(
        "other_databases",
        "Which other databases of the server let the role in.",
        f"select datname, {NO_MEND} from pg_database where datallowconn and datname <> current_database()"
        " and has_database_privilege($1::name, oid, 'CONNECT')",
        "",
        Weight.NOTE,
    ),
    Fact(
        "replication_access",
        "Which lines of pg_hba.conf let the role replicate.",
        f"select 'line ' || line_number, {NO_MEND} from pg_hba_file_rules where 'replication' = any(database)"
        " and (user_name && array['all', $1::text]) and auth_method <> 'reject'",
        "",
        Weight.NOTE,
    ),
)
