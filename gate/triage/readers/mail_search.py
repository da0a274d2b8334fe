"""mail_search: what a mail system says became of messages, a row for each recipient.

A search of mailboxes has no such rows, and shows nothing here: what arrived says nothing of what did not.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from gate.triage.grammars import zoned_times
from gate.triage.readers.document import Answer, Unreadable
from gate.triage.readers.log_search import nothing_unknown

MESSAGE = ("message_id", "message")
RECIPIENT = ("recipient", "recipient_email", "email", "to")
KNOWN = frozenset((*MESSAGE, *RECIPIENT, "limit"))
# What an answer says when there are more messages than it holds; an estimate of how many there are is no count.
INCOMPLETE = ("total", "truncated", "has_more", "next_page_token", "nextPageToken", "limit")


class MailSearch(Answer):
    """Rows of `messages`, with `total` as the count of all that were found."""

    tools = ("mail_search",)

    def asked(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """What was asked for under these names. Raises Unreadable for any argument that may narrow the answer."""
        nothing_unknown(self.args, KNOWN)
        return tuple(self.args.text(name) for name in names if self.args.has(name))

    def complete(self) -> bool:
        """True. Raises Unreadable unless the answer proves that it holds every row."""
        listed = self.listed()
        if self.result.integer("total") != listed:
            raise Unreadable("/total", f"`total` is not the {listed} in the list.", f"{listed} listed")
        for marker in ("truncated", "has_more"):
            if self.result.has(marker) and self.result.flag(marker) is not False:
                raise Unreadable(f"/{marker}", f"`{marker}` says that the list goes on.", "true")
        for marker in ("next_page_token", "nextPageToken"):
            if self.result.has(marker) and not self.result.is_null(marker):
                raise Unreadable(f"/{marker}", f"`{marker}` says that the list goes on.", "a next page")
        if self.args.has("limit") and self.args.integer("limit") <= listed:
            raise Unreadable("/messages", f"the page is full with {listed}, so there may be more.", f"{listed}")
        return True

    def listed(self) -> int:
        """How many rows are in the answer."""
        return self.result.length("messages")

    def named(self, index: int, names: tuple[str, ...]) -> str:
        """What a row says under the one of these names that it has. Raises Unreadable for none and for two."""
        used = [name for name in names if self.result.has("messages", index, name)]
        if len(used) != 1:
            raise Unreadable(f"/messages/{index}", f"the row does not say its {names[0]} once.", f"{len(used)} of them")
        return self.result.text("messages", index, used[0])

    def one_of(self, known: Collection[str], index: int, field: str) -> str:
        """A text of a row, out of a closed list."""
        return self.result.one_of(known, "messages", index, field)

    def moment(self, index: int, field: str) -> datetime:
        """A time of a row, with its zone."""
        return zoned_times.parse(self.result.text("messages", index, field))
