"""What the server's warnings say about an answer that came: that it is not the whole one, or not the one asked for.

A server answers and warns where PostgreSQL would refuse: a recursion that was stopped, a GROUP_CONCAT that was cut, a
text that was read as a number. Nobody sees a warning beside the rows, so each one makes the answer incomplete but for
those that are known to say nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# The server's numbers: https://mariadb.com/docs/server/reference/error-codes and MySQL's server error reference.
NUMBERS = {
    1931: "result_incomplete",  # max_recursive_iterations, LIMIT ROWS EXAMINED
    1260: "group_concat_cut",
    1301: "value_too_large",  # the value is NULL instead
    1265: "value_cut",
    1406: "value_cut",
    1264: "value_misread",
    1292: "value_misread",
    1366: "value_misread",
    1411: "value_misread",
}
OTHER = "warned"
CODES: Mapping[str, str] = {
    "result_incomplete": "The server stopped a recursion, or stopped looking at rows, before it was done.",
    "group_concat_cut": "A GROUP_CONCAT was cut.",
    "value_too_large": "A value was larger than the server gives, and is NULL in its place.",
    "value_cut": "A value was cut.",
    "value_misread": "A value was read as a number or a date that it is not.",
    OTHER: "The server warned of something that nobody knows to be harmless.",
}
# A division by zero is NULL in the answer; the others speak of spellings that will go away.
HARMLESS = frozenset((1365, 1287, 1681, 3090, 3719, 3720, 3778))
Warned = tuple[str, int]  # its level and its number


def incomplete(count: int, shown: Sequence[Warned]) -> tuple[str, ...]:
    """The codes for the warnings of a statement. What was counted and is not shown counts as any other."""
    found = {NUMBERS.get(number, OTHER) for level, number in shown if level != "Note" and number not in HARMLESS}
    return tuple(sorted(found | ({OTHER} if count > len(shown) else set())))
