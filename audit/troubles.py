"""What keeps a process from its work: said once when it begins and once when it is over, however long it lasts."""

from __future__ import annotations

import logging


def unreachable(error: Exception) -> str:
    """The sentence about a database that does not answer."""
    return f"The database cannot be reached ({str(error).strip()}); trying again."


class Troubles:
    """The troubles of one process, each with one thing that it works on; a process that works on one thing has one."""

    def __init__(self, log: logging.Logger, over: str) -> None:
        self.log = log
        self.over = over  # said when a trouble is over, with what it was with for "{}"
        self.standing: dict[str, str] = {}

    def say(self, trouble: str, of: str = "") -> None:
        """How it goes now with `of`: a sentence, or nothing when all is well."""
        stood = self.standing.pop(of, "")
        if trouble:
            self.standing[of] = trouble
        if trouble and not stood:
            self.log.error(trouble)
        elif stood and not trouble:
            self.log.info(self.over.format(of))
