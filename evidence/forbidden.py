"""Names that no read may use, whatever the credential would allow.

The credential is the wall; this list stands behind it, for databases whose PUBLIC still has what a fresh one gives it:
functions that reach other sessions, the server, its files or its log, that run SQL hidden in a string, or that keep
session state; and catalog relations that tell of other people's sessions, roles, values and sources. A name counts in
whatever schema it is called: extensions are installed in any. Waiting functions are not here: the time limit ends them.
"""

PREFIXES = (
    "pg_advisory_", "pg_try_advisory_", "pg_read_", "pg_ls_", "pg_stat_reset", "pg_stat_get_backend", "pg_replication_",
    "pg_logical_", "pg_create_", "pg_copy_", "pg_restore_", "pg_clear_", "pg_wal_", "pg_backup_", "pg_file_",
    "pg_control_", "pg_log_", "pg_stat_get_wal_", "pg_stat_get_progress_", "pg_stat_statements", "pg_truncate_",
    "binary_upgrade_", "brin_summarize", "brin_desummarize", "dblink", "query_to_xml", "table_to_xml", "schema_to_xml",
    "database_to_xml", "cursor_to_xml", "crosstab", "connectby", "xpath_table", "get_raw_page", "heap_force_",
    "pg_prewarm", "autoprewarm_",
)  # fmt: skip

FUNCTIONS = frozenset((
    # the session and its transaction
    "set_config", "setseed", "pg_notify", "pg_export_snapshot", "txid_current", "pg_current_xact_id", "nextval",
    "setval",
    # other sessions and the server
    "pg_cancel_backend", "pg_terminate_backend", "pg_reload_conf", "pg_rotate_logfile", "pg_promote", "pg_switch_wal",
    "pg_start_backup", "pg_stop_backup", "pg_drop_replication_slot", "pg_sync_replication_slots",
    "pg_get_backend_memory_contexts", "pg_get_replication_slots", "pg_config", "pg_stat_get_activity",
    "pg_stat_force_next_flush", "pg_lock_status",
    "pg_blocking_pids", "pg_prepared_xact", "pg_import_system_collations", "pg_extension_config_dump", "pg_nextoid",
    "gin_clean_pending_list", "pg_stat_file", "pg_hba_file_rules", "pg_show_all_settings", "pg_show_all_file_settings",
    "pg_cursor", "pg_prepared_statement",
    # large objects
    "lo_creat", "lo_create", "lo_from_bytea", "lo_get", "lo_put", "lo_open", "lo_close", "lo_unlink", "lo_import",
    "lo_export", "lo_truncate", "lo_truncate64", "lo_lseek", "lo_lseek64", "lo_tell", "lo_tell64", "loread", "lowrite",
    # SQL in a string, and sources of functions
    "ts_stat", "ts_rewrite", "pg_get_functiondef", "pg_get_function_sqlbody",
))  # fmt: skip

RELATIONS = frozenset((
    "pg_authid", "pg_shadow", "pg_roles", "pg_user", "pg_group", "pg_auth_members", "pg_db_role_setting", "pg_settings",
    "pg_file_settings", "pg_hba_file_rules", "pg_ident_file_mappings", "pg_locks", "pg_cursors",
    "pg_prepared_statements", "pg_prepared_xacts", "pg_proc", "pg_stats", "pg_stats_ext", "pg_stats_ext_exprs",
    "pg_statistic", "pg_statistic_ext_data", "pg_largeobject", "pg_largeobject_metadata", "pg_subscription",
    "pg_user_mapping", "pg_user_mappings", "pg_foreign_server", "pg_replication_slots", "pg_stat_activity",
    "pg_stat_replication", "pg_stat_ssl", "pg_stat_gssapi", "pg_stat_wal_receiver", "pg_stat_subscription",
    "pg_foreign_table", "pg_foreign_data_wrapper", "pg_config", "pg_backend_memory_contexts",
))  # fmt: skip
RELATION_PREFIXES = ("pg_stat_statements", "pg_stat_progress_")

# What the standard's views repeat of them. An application may well have a table of the same name elsewhere.
INFORMATION = frozenset((
    "routines", "user_mappings", "user_mapping_options", "foreign_servers", "foreign_server_options",
    "foreign_table_options", "foreign_data_wrapper_options", "_pg_user_mappings", "_pg_foreign_servers",
    "_pg_foreign_tables", "_pg_foreign_data_wrappers", "_pg_foreign_table_columns", "applicable_roles",
    "administrable_role_authorizations", "enabled_roles",
))  # fmt: skip


def is_forbidden_function(name: str) -> bool:
    """Whether a function of this name, in any schema, is one of these."""
    return name in FUNCTIONS or name.startswith(PREFIXES)


def is_forbidden_relation(schema: str, name: str) -> bool:
    """Whether `schema.name` (the schema empty when it was not said) is a catalog relation that tells of others."""
    # The rows of pg_toast are the long values of other relations.
    if schema == "pg_toast" or (schema == "information_schema" and name in INFORMATION):
        return True
    return name in RELATIONS or name.startswith(RELATION_PREFIXES)
