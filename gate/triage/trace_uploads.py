"""How long an uploaded trace may be, and the addresses that take so much. Pure: it is read before a request is."""

from __future__ import annotations

import re

LONGEST = 8 * 1024 * 1024  # bytes
OF_AGENTS = re.compile(r"/api/v1/investigations/\d{1,19}/trace", re.ASCII)
OF_PEOPLE = re.compile(r"/incidents/\d{1,19}/investigations/\d{1,19}/traces/", re.ASCII)
