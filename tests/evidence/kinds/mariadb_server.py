"""A MariaDB of Debian's packages for the tests, installed when it is missing and we may: an own server in a folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pymysql
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gate.config import embedded
from tests import packages
from tests.machine import free_port

PROGRAMS = ("mariadbd", "mariadb-install-db")
PLACES = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
# Settings that a reader must not take over: quotes and backslashes mean something else here, and so does a time of day.
ODD = ("--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES", "--default-time-zone=+05:00")
QUICK = (
    "--bind-address=127.0.0.1", "--skip-log-bin", "--performance-schema=off", "--innodb-buffer-pool-size=16M",
    "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0", "--innodb-fast-shutdown=2",
)  # fmt: skip
ACCOUNT = "mysql"  # that the package makes; a server does not run as root


def find(program: str) -> str | None:
    return shutil.which(program, path=PLACES)


def check_is_there() -> None:
    """Skip with a reason where MariaDB is neither there nor to be installed; in CI as root that is a failure."""
    if not all(map(find, PROGRAMS)):
        packages.install("mariadb-server")
    if all(map(find, PROGRAMS)):
        return
    told = "There is no MariaDB here and this account may not install one: apt-get install mariadb-server."
    if os.environ.get("CI") and os.geteuid() == 0:
        pytest.fail(told)
    pytest.skip(told)


class Server:
    """One server with its files in a folder of its own. It can be stopped and started again."""

    def __init__(self, base: Path) -> None:
        self.base, self.socket, self.port, self.ca = base, base / "socket", free_port(), base / "tls.pem"
        self.process: subprocess.Popen[bytes] | None = None
        self.ca.write_bytes(certificate())
        if os.geteuid() == 0:
            shutil.chown(base, ACCOUNT)
        self._run("mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db")
        self.start()

    def _words(self, program: str) -> list[str]:
        found = find(program)
        assert found is not None
        own = [f"--user={ACCOUNT}"] if os.geteuid() == 0 else []
        return [found, "--no-defaults", *own, f"--datadir={self.base / 'data'}"]

    def _run(self, program: str, *more: str) -> None:
        subprocess.run([*self._words(program), *more], check=True, stdout=subprocess.DEVNULL, timeout=60)

    def start(self) -> None:
        files = (f"--socket={self.socket}", f"--pid-file={self.base / 'pid'}")
        reached = (f"--port={self.port}", f"--ssl-cert={self.ca}", f"--ssl-key={self.ca}")
        command = [*self._words("mariadbd"), *files, *reached, *QUICK, *ODD]
        self.process = embedded.spawn(command, log=self.base / "log", death=signal.SIGKILL)
        deadline = time.monotonic() + 30
        while True:
            try:
                self.connect().close()
                return
            except pymysql.OperationalError:
                is_up = time.monotonic() < deadline and self.process.poll() is None
                assert is_up, (self.base / "log").read_text()
                time.sleep(0.05)

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def connect(self, user: str = "root", password: str = "", **more: Any) -> Any:
        return pymysql.connect(unix_socket=str(self.socket), user=user, password=password, autocommit=True, **more)

    def run(self, *statements: str) -> list[Any]:
        """Run them as root; the last one's rows."""
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    def url(self, user: str, schema: str = "shop_read") -> str:
        return f"mysql://{user}:test-{user}@localhost/{schema}?unix_socket={self.socket}"


def certificate() -> bytes:
    """A key and the certificate that it signed for 127.0.0.1, in one PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - timedelta(days=1),
                                now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return key.private_bytes(*form) + made.public_bytes(serialization.Encoding.PEM)


@contextmanager
def running() -> Iterator[Server]:
    check_is_there()
    # A socket's path may be 107 characters long, and pytest's own folders are longer.
    with tempfile.TemporaryDirectory(prefix="counterseal-mariadb-") as name:
        base = Path(name)
        base.chmod(0o755)
        server = Server(base)
        try:
            yield server
        finally:
            if server.process is not None and server.process.poll() is None:
                server.stop()


SHOP = (
    "create database shop", "create database shop_read", "create database other",
    "create table shop.jobs (id bigint primary key, state varchar(20) charset utf8mb4, amount decimal(20, 4),"
    " created_at timestamp(3) not null default '2026-01-02 03:04:05.678', finished datetime, content blob,"
    " flags bit(3), ratio double, doc json)",
    "insert into shop.jobs values (1, 'completed', 12.1000, '2026-01-02 03:04:05.678', '2026-01-02 05:00:00',"
    " x'00ff61', b'101', 0.1, '{\"a\": 1.10}'), (2, 'failed', null, default, null, null, null, 1e300, null),"
    " (3, 'naïve 日本', 9999999999999999.9999, default, '0000-00-00 00:00:00', 'text', b'0', -0.0, '[]')",
    "create table shop.log (line varchar(100))", "create table other.secrets (word varchar(40))",
    "insert into other.secrets values ('NOBODY-SEES-THIS')",
    "create function shop.touch() returns int modifies sql data begin insert into shop.log values ('touched');"
    " return 1; end",
    # The views read as an account that nobody signs in with.
    "create user shop_views@localhost account lock", "grant select on shop.* to shop_views@localhost",
    "create definer = shop_views@localhost sql security definer view shop_read.jobs as select * from shop.jobs",
    "create definer = shop_views@localhost view shop_read.counted as select count(*) as n from shop.jobs",
    "create user mona@localhost identified by 'test-mona' with max_user_connections 20",
    "grant select on `shop\\_read`.* to mona@localhost",
    "create user doctor@localhost identified by 'test-doctor'", "grant select on mysql.* to doctor@localhost",
    "grant select, show view on `shop\\_read`.* to doctor@localhost",
    "grant select, show view on shop.* to doctor@localhost",
    "create user writer@localhost identified by 'test-writer'", "grant all on shop.* to writer@localhost",
    "grant all on `shop\\_read`.* to writer@localhost",
    "create role readers",
)  # fmt: skip


def prepare(server: Server) -> None:
    """A shop as production has it: tables, views of them, the reader mona, a doctor, and somebody who writes."""
    server.run("set sql_mode = '', time_zone = '+00:00'", *SHOP)
