"""The name of a CloudWatch log group, also where it is given by its ARN."""

from __future__ import annotations

import re

_ARN = re.compile(r"arn:aws[a-z-]*:logs:[a-z0-9-]+:\d{12}:log-group:([A-Za-z0-9._/#-]+)(?::\*)?", re.ASCII)


def name(text: str) -> str:
    """The group's name; a text that is no ARN is a name already."""
    found = _ARN.fullmatch(text)
    return text if found is None else found[1]
