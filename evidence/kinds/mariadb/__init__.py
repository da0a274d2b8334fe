"""MariaDB and MySQL as a kind of source."""

from evidence.kinds.mariadb.kind import MariaDB

__all__ = ["MariaDB"]
