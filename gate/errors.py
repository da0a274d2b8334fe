"""Why a person's act did not happen. The text is the interface: a full sentence that says what to do next."""


class NotAllowed(Exception):
    """The act is not open to this person now."""


class Stale(NotAllowed):
    """What the person saw is not what is there any more; carries both versions."""

    def __init__(self, sentence: str, *, seen: int, current: int) -> None:
        super().__init__(sentence)
        self.seen = seen
        self.current = current
