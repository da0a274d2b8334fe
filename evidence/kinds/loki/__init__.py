"""Loki as a kind of source."""

from __future__ import annotations

from evidence.kinds.loki.kind import Loki

__all__ = ["Loki"]
