"""What became of what was read: two measures, side by side. It needs no settings and no database."""

from evidence.survival.overlap import analyze

__all__ = ["analyze"]
