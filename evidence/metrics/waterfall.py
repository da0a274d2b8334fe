"""A waterfall of components, in the plot's own coordinates: each bar begins where the one before it ended. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evidence.metrics.amounts import Amount, made

LEFT, RIGHT = 122.0, 400.0  # of the bars: names stand left of them, numbers right
STEP, BAR = 26, 16
MOST_BARS = 14
LONGEST_NAME, LONGEST_NUMBER = 19, 16  # characters that there is room for; the table has them whole
THINNEST = 1.0


@dataclass(frozen=True)
class Bar:
    """One bar: where it stands, and the line that leads down from its end."""

    name: str
    number: str
    x: float
    y: int
    width: float
    label_x: float
    end: float  # where it ended, which is left of where it began when it takes away
    is_whole: bool = False

    @property
    def text_y(self) -> int:
        return self.y + 12

    @property
    def link_top(self) -> int:
        return self.y + BAR

    @property
    def link_end(self) -> int:
        return self.y + STEP


@dataclass(frozen=True)
class Plot:
    """The bars, the whole last."""

    bars: tuple[Bar, ...]
    left: float  # where nothing is
    words: str  # what it shows, for who does not see it

    @property
    def height(self) -> int:
        return 6 + STEP * len(self.bars)


def plot(name: str, parts: Sequence[tuple[str, Amount]], whole: Amount, unit: str) -> Plot:
    """The waterfall from nothing to the whole. Of very many parts the last ones stand together, in their order."""
    shown = _together(parts)
    reached = [Fraction(0)]
    for _, amount in shown:
        reached.append(reached[-1] + amount.number)
    scale = _scale([*reached, whole.number])
    spans = [(reached[at], reached[at + 1]) for at in range(len(shown))]
    bars = [_bar(at, *shown[at], span, scale) for at, span in enumerate(spans)]
    bars.append(_bar(len(shown), name, whole, (Fraction(0), whole.number), scale, is_whole=True))
    said = ", ".join(f"{part} {amount.text}" for part, amount in shown)
    return Plot(tuple(bars), scale(Fraction(0)), f"{name} is {whole.text} {unit}, made of {said}")


def _together(parts: Sequence[tuple[str, Amount]]) -> list[tuple[str, Amount]]:
    if len(parts) <= MOST_BARS:
        return list(parts)
    rest = parts[MOST_BARS - 1 :]
    total = made(sum((amount.number for _, amount in rest), Fraction(0)))
    return [*parts[: MOST_BARS - 1], (f"{len(rest)} others", total)]


class _Scale:
    """From numbers to places."""

    def __init__(self, low: Fraction, high: Fraction) -> None:
        self.low, self.span = low, (high - low) or Fraction(1)

    def __call__(self, number: Fraction) -> float:
        return LEFT + float((number - self.low) / self.span) * (RIGHT - LEFT)


def _scale(reached: Sequence[Fraction]) -> _Scale:
    return _Scale(min(reached), max(reached))


def _bar(
    at: int, name: str, amount: Amount, span: tuple[Fraction, Fraction], scale: _Scale, *, is_whole: bool = False
) -> Bar:
    began, ended = scale(span[0]), scale(span[1])
    left, width = min(began, ended), abs(ended - began)
    width = max(width, THINNEST) if amount.number else 0.0
    return Bar(
        _cut(name, LONGEST_NAME), _cut(amount.text, LONGEST_NUMBER), round(left, 1), 6 + STEP * at, round(width, 1),
        round(left + width + 6, 1), round(ended, 1), is_whole,
    )  # fmt: skip


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
