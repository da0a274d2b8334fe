"""Whether a query in PromQL can have a value where it looked at no sample (prometheus.io, "Query functions").

Only what certainly cannot is believed: every word before a parenthesis is one of those that make nothing of nothing.
MetricsQL, which VictoriaMetrics speaks, has more such words, and puts a number after `or` and `default`.
"""

from __future__ import annotations

import re
from typing import Any

OF_SAMPLES = frozenset((
    "sum", "avg", "min", "max", "count", "group", "stddev", "stdvar", "topk", "bottomk", "limitk", "quantile",
    "count_values", "by", "without", "on", "ignoring", "group_left", "group_right", "and", "or", "unless", "bool",
    "rate", "irate", "increase", "delta", "idelta", "deriv", "predict_linear", "changes", "resets",
    "histogram_quantile", "histogram_fraction", "histogram_count", "histogram_sum", "histogram_avg", "abs", "ceil",
    "floor", "round", "clamp", "clamp_min", "clamp_max", "exp", "ln", "log2", "log10", "sqrt", "sgn", "sort",
    "sort_desc", "label_replace", "label_join", "timestamp",
))  # fmt: skip
ABSENT = "absent_over_time"  # every other function over a time makes nothing of nothing
_ASIDE = re.compile(r"""#.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`""")  # comments and strings
_CALLED = re.compile(r"([a-z_]\w*)\s*\(")
_SELECTED = re.compile(r"(?<![\w.])(?!(?:inf|nan)\b)[a-z_:][\w:]*\b(?!\s*\()|\{")
_OR_NUMBER = re.compile(r"\bdefault\b|\bor\b(?:\s*(?:on|ignoring)\s*\([^()]*\))?[\s(+-]*(?:[\d.]|inf\b|nan\b)")


def can_be_of_nothing(query: Any) -> bool:
    """Whether it may say `or vector(0)`, absent(), time(), a number, `default 0`, or what is not known here."""
    if not isinstance(query, str):
        return True
    text = _ASIDE.sub('""', query).lower()
    makes = any(not _is_of_samples(name) for name in _CALLED.findall(text))
    return makes or not _SELECTED.search(text) or _OR_NUMBER.search(text) is not None


def _is_of_samples(name: str) -> bool:
    return name in OF_SAMPLES or (name.endswith("_over_time") and name != ABSENT)
