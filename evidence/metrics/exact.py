"""Exact numbers: what a source answered goes in without a loss, and comes out as Decimal, never as float.

Inside they are fractions, for a third has no Decimal and an invariant is only checked when nothing was rounded. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, Rounded
from fractions import Fraction
from functools import lru_cache

MOST_DIGITS = 40  # before the point, and behind it: beyond is no amount, and costs memory to write out
LIMIT = 10**MOST_DIGITS
WIDE = Context(prec=4 * MOST_DIGITS, traps=[Inexact, Rounded])
WIDEST = 10**WIDE.prec
LONGEST_FRACTION = 10**2000  # of a denominator; Python writes no number of more than 4,300 digits
PLACES = 12  # that are shown of a number without an end
NORMAL_95 = Fraction(1959963984540054, 10**15)  # the normal quantile of an interval at 95 %


def exact(value: object) -> Fraction:
    """The number that a value is. Raises ValueError for what is none, a float and a truth value among them."""
    if type(value) is int and -LIMIT < value < LIMIT:
        return Fraction(value)  # as most are
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str | Fraction):
        raise ValueError(f"A {type(value).__name__} is not an exact number.")
    if isinstance(value, Fraction):
        return value
    return Fraction(_decimal(value))


def _decimal(value: int | Decimal | str) -> Decimal:
    if isinstance(value, str) and not _is_plain(value):
        raise ValueError("The text is not a number in digits.")
    if isinstance(value, int) and abs(value) >= LIMIT:
        raise ValueError(f"The number has more than {MOST_DIGITS} digits.")
    found = Decimal(value)
    if not found.is_finite():
        raise ValueError("The number is not finite.")
    exponent = found.as_tuple().exponent
    if found and (found.adjusted() >= MOST_DIGITS or (isinstance(exponent, int) and exponent < -MOST_DIGITS)):
        raise ValueError(f"The number has more than {MOST_DIGITS} digits before or behind its point.")
    return found


def _is_plain(text: str) -> bool:
    """Whether a text is a number as JSON would write it: int() and Decimal() also take spaces and other digits."""
    digits = text.removeprefix("-").replace(".", "", 1)
    return text.isascii() and digits.isdigit() and text[-1] != "." and not text.removeprefix("-").startswith(".")


@dataclass(frozen=True)
class Shown:
    """A number as it is answered: its Decimal, and the fraction that it stands for where it had to be cut."""

    value: Decimal
    fraction: str | None = None  # "347/15000", when the value has no end and is given to PLACES places


def shown(number: Fraction) -> Shown:
    """The number to give out. What ends is given whole; what does not says of which fraction it is the beginning."""
    behind = _places(number.denominator)
    if behind is not None and behind <= MOST_DIGITS:
        return Shown(_quotient(number, behind))
    return Shown(_quotient(number, PLACES), f"{number.numerator}/{number.denominator}")


def shown_all(numerators: Iterable[int], denominator: int) -> list[Decimal] | None:
    """The numbers to give out of many with one denominator, each as `shown` has it; None unless all of them end."""
    places = _places(denominator)
    if places is None or places > MOST_DIGITS:
        return None
    scale = 10**places
    wholes = [numerator * (scale // denominator) for numerator in numerators]
    if wholes and max(map(abs, wholes)) >= WIDEST:
        return None
    return [
        WIDE.normalize(WIDE.scaleb(Decimal(whole), -places)) if whole % scale else Decimal(whole // scale)
        for whole in wholes
    ]


@lru_cache(maxsize=1024)
def _places(denominator: int) -> int | None:
    """How many places behind the point it takes, or None: only twos and fives come out even."""
    twos, denominator = _times(denominator, 2)
    fives, denominator = _times(denominator, 5)
    return max(twos, fives) if denominator == 1 else None


def _times(number: int, divisor: int) -> tuple[int, int]:
    count = 0
    while number % divisor == 0:
        number, count = number // divisor, count + 1
    return count, number


def _half_even(numerator: int, denominator: int) -> int:
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2))


def _quotient(number: Fraction, places: int) -> Decimal:
    """Divided as integers, and rounded half to even; no context of Decimal cuts a digit of it."""
    whole = _half_even(number.numerator * 10**places, number.denominator)
    if abs(whole) < WIDEST:
        return WIDE.scaleb(Decimal(whole), -places)
    return Decimal((int(whole < 0), tuple(map(int, str(abs(whole)))), -places))
