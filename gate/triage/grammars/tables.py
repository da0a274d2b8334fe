"""Names of tables, as far as they tell what rows a table holds: its last word, and words before it that change nothing.

What is not in these lists may be an archive, drafts, a test's or somebody else's rows, and tells nothing.
"""

from __future__ import annotations

_OF_MAIL = frozenset(("mail", "mails", "email", "emails", "message", "messages", "outbox", "outgoing"))
_RECIPIENTS = frozenset(("recipient", "recipients", "messagerecipient", "messagerecipients"))
_BOUNCES = frozenset(("bounce", "bounces"))
_OF_SHOPS = frozenset(("ps", "prestashop", "shop", "store", "sales", "wc", "woocommerce"))
_ORDERS = frozenset(("order", "orders"))


def holds_recipients(name: str) -> bool:
    """Whether a row of the table is one recipient of one message."""
    return _is_named(name, _RECIPIENTS, _OF_MAIL) or name in ("deliveries", "message_deliveries", "mail_deliveries")


def holds_bounces(name: str) -> bool:
    """Whether a row of the table is one bounce."""
    return _is_named(name.removesuffix("_events"), _BOUNCES, _OF_MAIL)


def holds_orders(name: str) -> bool:
    """Whether a row of the table is one order of a shop, as it stands now."""
    return _is_named(name, _ORDERS, _OF_SHOPS)


def _is_named(name: str, last: frozenset[str], before: frozenset[str]) -> bool:
    *words, end = name.split("_")
    return end in last and all(word in before for word in words)
