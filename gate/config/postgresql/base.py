"""Django's PostgreSQL backend, with a pool that is whole again right after the database was restarted."""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base

from audit import pooling


class DatabaseWrapper(base.DatabaseWrapper):
    @property
    def pool(self) -> Any:
        """The process's pool. Django gives no way to choose its check."""
        pool = super().pool
        if pool is not None:
            pool._check = pooling.check_or_drain
        return pool
