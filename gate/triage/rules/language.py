"""What a rule is written in. A rule is data: facts, what answers each needs, and one check per line of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from gate.triage.cases import IncidentFacts, RecordedCall
from gate.triage.readers.document import Answer, Unreadable, shown, storable

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True)
class Judgment:
    """What one test says about one answer. Anything but `holds` being literally True takes the pass away."""

    holds: bool
    seen: str
    why: str  # a sentence, for when it does not hold


@dataclass(frozen=True)
class Case:
    """What a test may look at besides its own answer."""

    incident: IncidentFacts
    cited: Mapping[str, tuple[Answer, ...]]  # fact: the admissible answers that were cited for it

    def answers(self, fact: str, reader: type[A]) -> tuple[A, ...]:
        """What one reader makes of the answers that were cited for a fact."""
        return tuple(answer for answer in self.cited[fact] if isinstance(answer, reader))


# A test reads an answer through its typed reader, which raises Unreadable. The answer's class is the need's reader.
Test = Callable[[Any, Case], Judgment]


@dataclass(frozen=True)
class Check:
    """One line of the page: what must hold, and what would earn it. {names} are filled from the incident."""

    title: str
    test: Test
    earn: str
    unreadable: str = "What cannot be read fails"  # the headline when the value is not there


@dataclass(frozen=True)
class Need:
    """An answer that a fact needs at least once. Each one cited is put to every check.

    `again` are put to later answers on the same subject that nobody cited: asked again, they must still hold.
    """

    readers: tuple[type[Answer], ...]
    asked: Test  # the arguments name the incident's subject and nothing that narrows it
    answered: Test  # and the answer is about it
    checks: tuple[Check, ...]
    again: tuple[Test, ...]

    @cached_property
    def tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool for reader in self.readers for tool in reader.tools))

    def claiming(self, call: RecordedCall) -> list[type[Answer]]:
        """The readers that take the call for their own."""
        return [reader for reader in self.readers if call.tool in reader.tools and reader.reads(call) is True]

    def read(self, call: RecordedCall) -> Answer:
        """The call as an answer of the one reader that claims it. Raises Unreadable when none or several do."""
        claiming = self.claiming(call)
        if len(claiming) != 1:
            why = f"no reader, or more than one, takes the answer of `{storable(call.tool)}` for its own."
            raise Unreadable("", why, "an unknown shape")
        return claiming[0](call)


@dataclass(frozen=True)
class Fact:
    """A positive outcome that the hypothesis stands on."""

    name: str
    needs: tuple[Need, ...]

    @cached_property
    def tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool for need in self.needs for tool in need.tools))

    def means(self, need: Need, call: RecordedCall) -> bool:
        """Whether a call cited for the fact is meant for one of its needs: by its tool, then by its shape."""
        if call.tool not in need.tools:
            return False
        rivals = [other for other in self.needs if call.tool in other.tools]
        claiming = [other for other in rivals if other.claiming(call)] if len(rivals) > 1 else rivals
        return not claiming or any(other is need for other in claiming)


@dataclass(frozen=True)
class Rule:
    """What must be shown before a hypothesis passes. A version that was active once is never edited."""

    hypothesis: str
    version: int
    facts: tuple[Fact, ...]
    kinds: tuple[str, ...] = ("incident", "claim")  # what it can explain


def equal(seen: Any, wanted: Any, why: str) -> Judgment:
    """The same value of the same type: 1 is not True, "1" is not 1."""
    return Judgment(type(seen) is type(wanted) and seen == wanted, shown(seen), why)


def either(tools: tuple[str, ...]) -> str:
    """Tool names in a sentence."""
    return " or ".join(f"`{tool}`" for tool in tools)
