"""Why a person's act did not happen. The text is the interface: a full sentence that says what to do next."""

from audit.refusing import NotAllowed

__all__ = ["NotAllowed", "Stale"]  # the layers below refuse by the same exception


class Stale(NotAllowed):
    """What the person saw is not what is there any more; carries both versions."""

    is_attempt = False  # to have read an old page is no attempt at anything

    def __init__(self, sentence: str, *, seen: int, current: int) -> None:
        super().__init__(sentence)
        self.seen = seen
        self.current = current
