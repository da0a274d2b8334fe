"""Why a proposal cannot be taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gate.errors import NotAllowed

if TYPE_CHECKING:
    from gate.writes.models import WriteRequest


class Unfit(NotAllowed):
    """The proposal as it stands cannot be shown, approved and run; the sentence says what to change."""


class Duplicate(NotAllowed):
    """Its proposer asks for exactly the same already, in `twin`."""

    def __init__(self, sentence: str, twin: WriteRequest) -> None:
        super().__init__(sentence)
        self.twin = twin
