"""Trace formats: which one a file is in, and its steps in the plain form."""

from evidence.survival.formats.reading import FORMATS, read_trace
from evidence.survival.formats.several import decoded

__all__ = ["FORMATS", "decoded", "read_trace"]
