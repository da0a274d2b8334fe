"""What the reader itself tries, so that the server says from the other side that it may not.

In MariaDB and MySQL a statement of structure commits by itself, so each one here is harmless even when it comes
through: rows are chosen by FALSE, and what is made, changed or dropped is not there. The server looks at privileges
first. Only an answer that says "denied" counts; that a thing is not there, or that a transaction is read-only, says
that the credential might have.
"""

from __future__ import annotations

from collections.abc import Iterator

import pymysql

from evidence.kinds.mariadb import grants, session
from evidence.kinds.mariadb.session import Bounded

MOST_RELATIONS = 200
RELATIONS = (
    "SELECT table_schema, table_name FROM information_schema.tables"
    " WHERE table_schema NOT IN ('information_schema', 'performance_schema') ORDER BY 1, 2"
)
ON_ROWS = (
    "DELETE FROM {0} WHERE FALSE",
    "INSERT INTO {0} SELECT * FROM {0} WHERE FALSE",
    "REPLACE INTO {0} SELECT * FROM {0} WHERE FALSE",
)
NOBODY = "'counterseal_no_such'@'nowhere.invalid'"
FILE = "'/nonexistent/counterseal'"
ON_STRUCTURE = (
    "INSERT INTO {absent} VALUES (1)",
    "UPDATE {absent} SET a = 1",
    "DROP TABLE {absent}",
    "DROP VIEW {absent}",
    "ALTER TABLE {absent} ADD COLUMN a INT",
    "TRUNCATE TABLE {absent}",
    "RENAME TABLE {absent} TO {neither}",
    "CREATE TABLE {absent} LIKE {neither}",
    "CREATE TEMPORARY TABLE {absent} LIKE {neither}",
    "CREATE VIEW {absent} AS SELECT * FROM {neither}",
    "CREATE INDEX a ON {absent} (a)",
    "CREATE TRIGGER {absent} BEFORE INSERT ON {absent} FOR EACH ROW SET @a = 1",
    "LOCK TABLES {absent} WRITE",
    "DROP PROCEDURE {absent}",
    "DROP FUNCTION {absent}",
    "DROP EVENT {absent}",
    "CALL {absent}()",
    "SELECT {absent}()",
)
ON_SERVER = (
    "DROP DATABASE counterseal_no_such",
    f"DROP USER {NOBODY}",
    "SET GLOBAL max_connections = @@global.max_connections",
    f"SELECT 1 INTO OUTFILE {FILE}",
    f"SELECT 1 INTO DUMPFILE {FILE}",
    f"LOAD DATA INFILE {FILE} INTO TABLE {{absent}}",
    "DELETE FROM mysql.db WHERE FALSE",
    "SELECT 1 FROM mysql.user LIMIT 0",
    "SHOW BINARY LOGS",
    "SET SESSION sql_log_bin = 1",
)


def attempt(reader: Bounded, schema: str, refuses_writes: bool) -> tuple[int, list[str]]:
    """How many statements were tried, and which were not denied. Raises pymysql.MySQLError when the session ends."""
    reader.query("SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1, autocommit = 0")
    statements = list(_statements(reader, schema))
    accepted = session.DENIED | ({session.READ_ONLY_SERVER} if refuses_writes else set())
    answers = [(statement, _tried(reader, statement)) for statement in statements]
    return len(statements), [f"{statement}: {said}" for statement, (code, said) in answers if code not in accepted]


def _statements(reader: Bounded, schema: str) -> Iterator[str]:
    absent, neither = (f"{grants.quoted(schema)}.{name}" for name in ("counterseal_no_such", "counterseal_neither"))
    for where, name in session.rows(reader, RELATIONS)[:MOST_RELATIONS]:
        relation = f"{grants.quoted(str(where))}.{grants.quoted(str(name))}"
        yield from (statement.format(relation) for statement in ON_ROWS)
    yield from (statement.format(absent=absent, neither=neither) for statement in (*ON_STRUCTURE, *ON_SERVER))


def _tried(reader: Bounded, statement: str) -> tuple[int, str]:
    try:
        reader.query(statement)
        reader.query("ROLLBACK")
    except pymysql.MySQLError as error:
        if session.code_of(error) in session.GONE:
            raise
        return session.code_of(error), session.said(error)
    return 0, "it came through"
