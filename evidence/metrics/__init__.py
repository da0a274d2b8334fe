"""Numbers that can be taken apart: where each comes from, of what it is made, and what is not known."""
