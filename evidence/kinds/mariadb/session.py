"""Sessions with a server, and what its errors mean. The driver is told to do nothing but what stands here."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pymysql

from evidence.errors import Refused
from evidence.kinds.mariadb.address import Address

CONNECT_SECONDS = 5
# As the grammar takes a text, and as SHOW GRANTS is read: quotes are texts, names stand in backquotes, a backslash
# escapes. And no row is picked at random for a group.
MODE = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
OWN = f"SET SESSION sql_mode = '{MODE}', SESSION time_zone = '+00:00'"
# Privileges that are missing: for a table, a schema, a column, a routine, an account, the server (FILE among them).
DENIED = frozenset((1044, 1045, 1142, 1143, 1227, 1370, 1410))
READ_ONLY_SERVER = 1290  # what a replica that takes no writes answers
READ_ONLY_TRANSACTION = 1792
# SERVER_STATUS_IN_TRANS and SERVER_STATUS_IN_TRANS_READONLY of the protocol's status flags.
IN_READ_ONLY_TRANSACTION = 0x0001 | 0x2000
TIME_IS_OVER = frozenset((1317, 1969, 3024))
LOCKED = frozenset((1205, 1213, 3572))
BUSY = frozenset((1040, 1203, 1226))
GONE = frozenset((2002, 2003, 2006, 2013, 2055, 1053, 1927))


_contexts: dict[tuple[tuple[str, Any], ...], ssl.SSLContext] = {}


class TooMuch(Exception):
    """The server sent more than a read may weigh."""


class Bounded(pymysql.connections.Connection):
    """A connection that reads at most `allowance` bytes of what the server sends; None is as much as comes."""

    allowance: int | None = None

    def _create_ssl_ctx(self, sslp: dict[str, Any]) -> ssl.SSLContext:
        # Made once for each way to verify: reading the machine's certificates takes longer than a read.
        known = tuple(sorted((name, value) for name, value in sslp.items() if value is not None))
        if known not in _contexts:
            _contexts[known] = super()._create_ssl_ctx(sslp)  # type: ignore[misc]
        return _contexts[known]

    @property
    def version(self) -> str:
        """What the server said that it is when the session began."""
        return str(self.get_server_info())  # type: ignore[no-untyped-call]

    def is_in_read_only_transaction(self) -> bool:
        """Whether the transaction that was begun read-only is still the one. Raises pymysql.MySQLError."""
        self.query("DO 0")
        status: int = self.server_status  # type: ignore[attr-defined]
        return status & IN_READ_ONLY_TRANSACTION == IN_READ_ONLY_TRANSACTION

    def _read_bytes(self, num_bytes: int) -> bytes:
        # The driver takes everything from here, so that no row, however long, is in memory whole before it is counted.
        if self.allowance is not None:
            self.allowance -= num_bytes
            if self.allowance < 0:
                raise TooMuch
        found: bytes = super()._read_bytes(num_bytes)  # type: ignore[misc]
        return found


@contextmanager
def opened(address: Address, seconds: float, program: str) -> Iterator[Bounded]:
    """A session that ends with the block, whatever it left unread. Raises pymysql.MySQLError.

    The server's own settings of how texts and times are written are not taken over.
    """
    connection = _connect(address, seconds, program)
    try:
        connection.query(OWN)
        yield connection
    finally:
        # Not close(): it would take leave politely, and wait where the server is still sending rows.
        connection._force_close()  # type: ignore[attr-defined]


def _connect(address: Address, seconds: float, program: str) -> Bounded:
    is_verified = address.option("ssl_ca") is not None
    return Bounded(
        host=address.host,
        port=address.port,
        user=address.user,
        password=address.password,
        database=address.schema,
        unix_socket=address.option("unix_socket"),
        ssl_ca=address.option("ssl_ca"),
        ssl_cert=address.option("ssl_cert"),
        ssl_key=address.option("ssl_key"),
        ssl_verify_cert=True if is_verified else None,
        ssl_verify_identity=True if is_verified else None,
        charset="utf8mb4",
        autocommit=True,
        local_infile=False,
        client_flag=0,  # no second statement behind a first one
        connect_timeout=CONNECT_SECONDS,
        read_timeout=seconds,
        write_timeout=seconds,
        program_name=program,
        use_unicode=False,  # values come as the server's own bytes: see evidence.kinds.mariadb.values
        conv={},
    )


def rows(connection: Bounded, statement: str) -> list[tuple[str | None, ...]]:
    """All rows of a statement of ours, as texts. Raises pymysql.MySQLError."""
    connection.query(statement)
    found = connection._result.rows or ()  # type: ignore[attr-defined]
    return [tuple(None if value is None else value.decode() for value in row) for row in found]


class Stream:
    """The rows of one statement, one at a time, as raw bytes; `fields` is what the server says about each column."""

    def __init__(self, connection: Bounded, statement: str) -> None:
        """Send the statement. Raises pymysql.MySQLError."""
        connection.query(statement, unbuffered=True)
        self._result: Any = connection._result  # type: ignore[attr-defined]

    @property
    def fields(self) -> Sequence[Any]:
        """What the server says about each column; none for a statement that has no rows."""
        return self._result.fields or ()

    def next(self) -> Sequence[bytes | None] | None:
        """The next row, or None behind the last. Raises pymysql.MySQLError."""
        found: Sequence[bytes | None] | None = self._result._read_rowdata_packet_unbuffered()
        return found

    @property
    def warnings(self) -> int:
        """How many warnings the server has, once the last row was read."""
        return int(self._result.warning_count)

    def leave(self) -> None:
        """Read no further: the driver would fetch all the rest before it let go."""
        self._result.unbuffered_active = False


def code_of(error: pymysql.MySQLError) -> int:
    """The server's or the driver's number of the error; 0 when it has none."""
    found = error.args[0] if error.args else 0
    return found if isinstance(found, int) else 0


def said(error: pymysql.MySQLError) -> str:
    """What the server said, in one line. What the driver says may hold parts of the address, so it is left out."""
    if 1000 <= code_of(error) < 2000 or code_of(error) >= 3000:
        return str(error.args[1] if len(error.args) > 1 else "an error without a text").splitlines()[0].rstrip(".")
    return "the connection failed"


def unreachable() -> Refused:
    """What is said when the server does not answer."""
    return Refused("unreachable", "The source did not answer; look whether its database is up.")
