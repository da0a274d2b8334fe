"""Strict readers, one per tool: what its answer says, or that it cannot be read."""
