"""Trace formats: which one a file is in, and its steps in the plain form."""

from evidence.survival.formats.reading import FORMATS, read_trace

__all__ = ["FORMATS", "read_trace"]
