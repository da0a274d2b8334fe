"""Loki as a kind of source."""
