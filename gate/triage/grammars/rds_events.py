"""What Amazon RDS says in events about storage autoscaling. Its sentences are fixed; what fits none says nothing."""

from __future__ import annotations

import re

_COMPLETED = (
    re.compile(r"Finished applying autoscaling-initiated modification to allocated storage\.?"),
    re.compile(
        r"Storage autoscaling completed for DB (?:instance|cluster) (?P<name>[A-Za-z][A-Za-z0-9-]{0,62})\. "
        r"Allocated storage has been increased from (?P<before>\d{1,6}) (?P<unit>GB|GiB) "
        r"to (?P<after>\d{1,6}) (?P=unit)\.?"
    ),
)
_BEGUN = (
    re.compile(r"Applying autoscaling-initiated modification to allocated storage\.?"),
    re.compile(r".*Storage autoscaling initiated.*", re.DOTALL),
)
_FAILED = re.compile(
    r"Storage autoscaling (?:is unable to scale|failed|has triggered a pending scale storage task)"
    r"|Autoscaling will retry|reach or exceed the maximum storage threshold|storage quota"
    r"|Allocated storage has been exhausted"
)


def says_completed(message: str, name: str) -> bool:
    """Whether a message says, and nothing else, that autoscaling has enlarged the storage of this very database."""
    for sentence in _COMPLETED:
        found = sentence.fullmatch(message.strip())
        if found is not None:
            told = found.groupdict()
            return not told or (told["name"] == name and int(told["after"]) > int(told["before"]))
    return False


def says_begun(message: str) -> bool:
    """Whether a message says that autoscaling has begun, which is not yet its end."""
    return any(sentence.fullmatch(message.strip()) is not None for sentence in _BEGUN)


def says_failed(message: str) -> bool:
    """Whether a message speaks of autoscaling that did not work, or of storage that ran out."""
    return _FAILED.search(message) is not None
