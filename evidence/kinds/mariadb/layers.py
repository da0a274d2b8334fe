"""Which line stops what on MariaDB and MySQL: the first is the account, and for what commits by itself it is the only.

A statement of structure (CREATE, DROP, ALTER, GRANT) commits at once, whatever the transaction around it, so the
read-only transaction and its rollback are a later line for changes of rows alone.
"""

from __future__ import annotations

from evidence.layers import Attack

TRANSACTION = "the read-only transaction, rolled back with its session"
PROTOCOL = "the driver: one statement at a time, and no local files"
PARSER = "the parser: one SELECT, of listed functions, over the exposed schema"
LIMITS = "the limits of time, rows and bytes"
PRIVILEGES = ("global_privileges", "schema_privileges", "table_privileges", "roles", "proxies", "grant_option",
              "everyone", "understood", "tries")  # fmt: skip
ATTACKS = (
    Attack("Changing rows", PRIVILEGES, TRANSACTION),
    Attack("Changing tables, rights and accounts, which commits by itself", PRIVILEGES, PARSER),
    Attack("Writing through stored functions and views that call them", ("routines", "views"), TRANSACTION),
    Attack("Files of the server: LOAD_FILE, INTO OUTFILE, LOAD DATA", ("global_privileges", "tries"), PARSER),
    Attack("Files of this machine: LOAD DATA LOCAL", (), PROTOCOL),
    Attack("Settings of the server, its log and its replicas", ("global_privileges", "tries"), PARSER),
    Attack("Other servers through tables of foreign engines", ("foreign_tables",), PARSER),
    Attack("Other schemas", ("elsewhere",), PARSER),
    Attack("Accounts and password hashes", ("elsewhere", "tries"), PARSER),
    Attack("Ending sessions of the same account, and its own password", (), PARSER),
    Attack("Locks: GET_LOCK, FOR UPDATE, LOCK IN SHARE MODE", (), PARSER),
    Attack("Waiting on purpose: SLEEP, BENCHMARK", (), PARSER),
    Attack("Variables and settings of the session, statements that are prepared", (), PARSER),
    Attack("Comments that are run", (), PARSER),
    Attack("Several statements in one", (), PROTOCOL),
    Attack("Answers without end, queries without end", (), LIMITS),
    Attack("Sessions without end", ("connection_limit",), LIMITS),
)  # fmt: skip
