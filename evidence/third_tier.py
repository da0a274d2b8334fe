"""What a fresh PostgreSQL lets everyone run and read in its own catalog although it writes, spies, waits or reaches.

The third tier of a reader takes it from PUBLIC. The names are patterns, so that a newer server's new member of a family
is in it, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from evidence.stating import Weight


@dataclass(frozen=True)
class Family:
    """Catalog functions of one danger: `pattern` matches their whole names.

    `tried` is the one that the reader itself tries. The catalogs tell of the others; each try is a line in the server's
    log, every few minutes.
    """

    name: str
    sentence: str
    pattern: str
    tried: str
    weight: Weight = Weight.LAYER
    on_standby: bool = False  # whether a standby refuses them by itself


FUNCTIONS = (
    Family(
        "large_object_functions", "The role makes and changes no large object.",
        "lo_.*|loread|lowrite", "lo_create", Weight.WALL, on_standby=True,
    ),
    Family(
        "writing_functions", "The role advances no sequence, writes nothing to the server's log and takes no number.",
        "nextval|setval|pg_logical_emit_message|pg_current_xact_id|txid_current|pg_nextoid|pg_import_system_collations"
        "|pg_extension_config_dump|brin_(de)?summarize.*|gin_clean_pending_list|pg_(restore|clear)_.*_stats"
        "|pg_stop_making_pinned_objects|binary_upgrade_.*|pg_stat_force_next_flush", "nextval", on_standby=True,
    ),
    Family(
        "slot_functions", "The role makes, moves and reads no replication slot.",
        "pg_(create|copy)_(logical|physical)_replication_slot|pg_drop_replication_slot|pg_replication_slot_advance"
        "|pg_sync_replication_slots|pg_logical_slot_.*", "pg_drop_replication_slot",
    ),
    Family("lock_functions", "The role takes no advisory lock.", "pg_(try_)?advisory_.*", "pg_advisory_lock"),
    Family(
        "session_functions", "The role leaves no setting, notice or snapshot behind.",
        "set_config|setseed|pg_notify|pg_export_snapshot", "set_config",
    ),
    Family(
        "neighbor_functions", "The role neither sees nor ends other sessions.",
        "pg_cancel_backend|pg_terminate_backend|pg_blocking_pids|pg_safe_snapshot_blocking_pids"
        "|pg_isolation_test_session_is_blocked|pg_stat_get_activity|pg_stat_get_backend_activity|pg_lock_status"
        "|pg_prepared_xact", "pg_terminate_backend",
    ),
    Family(
        "hiding_functions", "The role runs no function that runs SQL out of a string.",
        "(query|table|schema|database)_to_xml.*|cursor_to_xml.*|ts_stat|ts_rewrite", "query_to_xml",
    ),
    Family("waiting_functions", "The role does not wait on purpose.", "pg_sleep.*", "pg_sleep"),
    Family(
        "server_functions", "The role learns nothing of the server itself.",
        "pg_control_.*|inet_server_.*|pg_get_loaded_modules", "pg_control_system",
    ),
)  # fmt: skip

VIEWS = (
    "pg_roles", "pg_user", "pg_group", "pg_auth_members", "pg_db_role_setting", "pg_stat_activity", "pg_locks",
    "pg_settings", "pg_prepared_xacts", "pg_prepared_statements", "pg_cursors", "pg_stats", "pg_stats_ext",
    "pg_stats_ext_exprs", "pg_stat_replication", "pg_stat_ssl", "pg_largeobject_metadata",
)  # fmt: skip


def chosen(family: Family) -> str:
    """SQL that chooses a family's functions of `pg_proc p`. ts_rewrite of three arguments runs nothing."""
    return (
        f"p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ '^({family.pattern})$'"
        " and not (p.proname = 'ts_rewrite' and p.pronargs = 3)"
    )
