"""The diffs of a page as somebody reads them: each line with its sign."""

from __future__ import annotations

import html
import re

LINE = re.compile(
    r'<span class="(add|del|dim)"><span class="no".*?</span><span class="sign">.*?</span>'
    r'<span class="line">(.*?)</span></span>(?=<span class="(?:add|del|dim|gap)">|</pre>)',
    re.DOTALL,
)
SIGNS = {"add": "+", "del": "-", "dim": " "}


def lines(page: str) -> list[str]:
    """The lines of all diffs of a page, as those of a unified diff."""
    return [SIGNS[kind] + html.unescape(re.sub(r"</?(?:ins|del)>", "", line)) for kind, line in LINE.findall(page)]
