"""Prometheus as a kind of source."""

from __future__ import annotations

from evidence.kinds.prometheus.kind import Prometheus

__all__ = ["Prometheus"]
