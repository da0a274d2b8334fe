"""Prometheus as a kind of source."""
