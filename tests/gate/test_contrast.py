"""WCAG 2 contrast of the color tokens: text at 4.5, lines and focus rings at 3, in both themes."""

from __future__ import annotations

import re

import pytest

from gate.config.environment import BASE_DIR

TEXT, GRAPHIC = 4.5, 3.0
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)",
        (BASE_DIR / "static/css/tokens.css").read_text(),
    )
}
STATES = ("ok", "wait", "bad", "machine", "info")
TINTED = ("ok", "wait", "bad", "info")
GROUNDS = ("canvas", "surface", "sunken", "selected")

PAIRS = [
    *((ink, ground, TEXT) for ground in GROUNDS for ink in ("ink", "ink-2", "ink-3", "link")),
    *((f"{state}-ink", ground, TEXT) for state in STATES for ground in GROUNDS),
    *((ink, f"{state}-tint", TEXT) for state in TINTED for ink in (f"{state}-ink", "ink", "ink-2")),
    *((f"{state}-line", "surface", GRAPHIC) for state in STATES),
    *(("ink", ground, TEXT) for ground in ("diff-add", "diff-del", "diff-add-word", "diff-del-word", "mark")),
    ("ink-3", "diff-add", TEXT), ("ink-3", "diff-del", TEXT),
    ("bad-ink", "diff-del", TEXT), ("ok-ink", "diff-add", TEXT), ("ink-2", "mark", TEXT),
    ("on-accent", "accent", TEXT), ("on-bad", "bad-solid", TEXT),
    ("focus", "canvas", GRAPHIC), ("focus", "surface", GRAPHIC), ("field-line", "surface", GRAPHIC),
    ("field-line", "canvas", GRAPHIC), ("link", "bad-tint", TEXT), ("link", "wait-tint", TEXT), ("canvas", "ink", TEXT),
    ("wait-line", "canvas", GRAPHIC),
]  # fmt: skip
# Hairlines between things that stand apart anyway: nothing is told by them alone.
DECORATION = {"line", "line-strong"}


def test_no_color_is_without_a_pair() -> None:
    paired = {name for ink, ground, _ in PAIRS for name in (ink, ground)}
    assert set(TOKENS) - paired == DECORATION


def luminance(color: str) -> float:
    """Relative luminance of a hex color, as WCAG 2.2 defines it."""
    parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground", "floor"), PAIRS)
def test_contrast(ink: str, ground: str, floor: float, theme: int) -> None:
    lighter, darker = sorted((luminance(TOKENS[ink][theme]), luminance(TOKENS[ground][theme])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= floor
