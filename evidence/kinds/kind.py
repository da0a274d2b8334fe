"""What a kind of source can do: check what is said about it, prove its credential, and read.

Everything that differs from one kind to another lies behind this protocol. The gateway, the certificate, the contracts
and the commands know no kind by name: a new kind is a module, one import and one line in evidence.kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from audit.models import Definition
from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds.fields import Field
from evidence.layers import Attack
from evidence.stating import Proven, Seen

if TYPE_CHECKING:
    from evidence.contracts import Contract

__all__ = ["Found", "Limits", "Proven", "Seen", "SourceKind", "request_of"]


@dataclass(frozen=True)
class Found:
    """What a read found: the result's JSON object, whether a limit cut it, and why it is not the whole answer.

    `incomplete` holds codes of the kind's own closed table. Any of them makes the answer one that was cut.
    """

    result: dict[str, Any]
    truncated: bool = False
    incomplete: tuple[str, ...] = ()


class SourceKind(Protocol):
    """One kind of source. Each method is safe to call from several threads."""

    @property
    def name(self) -> str:
        """What a source's body says as its `kind`."""

    @property
    def title(self) -> str:
        """What it is called among people, with the versions that it reads."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """What the form of a source asks for: a field for each key of the body besides those of all kinds."""

    @property
    def attacks(self) -> tuple[Attack, ...]:
        """The families of attacks, and which line stops each first: the layer report of the certificate."""

    @property
    def codes(self) -> Mapping[str, str]:
        """Each code by which a read says that its answer is not the whole one, with the sentence that explains it."""

    @property
    def source_example(self) -> Mapping[str, Any]:
        """A source's body that passes `check_source`."""

    @property
    def tool_example(self) -> Mapping[str, Any]:
        """What a tool of `source_example` says about how it reads, which passes `check_tool` with the common keys."""

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes a source of this kind. `kind` is right already."""

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body says how a tool of this kind reads.

        What tools of all kinds say has been checked; the body has either a `request`, or `sql`, `parameters` and
        `shape`, and which of the two it must be is for this to say.
        """

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The names of the environment variables that the proof needs, so that a command can say which is missing."""

    def address(self, source: Definition) -> str:
        """Where the reader's credential leads, and as whom, without its secrets. Raises Problem when it is unset."""

    def prove(self, source: Definition) -> Proven:
        """Look whether the credential can do anything but read.

        It does not raise for a source that cannot be reached: that is a fact that does not hold.
        """

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One guarded read of a contract's own, never tried a second time.

        Raises Refused (with the code "parameters" where the arguments are at fault), or Problem for a credential that
        is not set.
        """

    def strongest_reader(self, source: Definition) -> list[str]:
        """The lines of `manage.py reader_role`: what makes the strongest reader there is for this source's server.

        Raises Problem when that cannot be said.
        """


def request_of(contract: Contract) -> dict[str, Any]:
    """What the contract asks of a source of an HTTP kind. Raises Refused when it was written for another kind."""
    if contract.request is None:
        raise Refused("wrong_kind", "The tool was written for another kind of source; draft it anew.")
    return contract.request
