"""Why a proposal cannot be taken."""

from gate.errors import NotAllowed


class Unfit(NotAllowed):
    """The proposal as it stands cannot be shown, approved and run; the sentence says what to change."""
