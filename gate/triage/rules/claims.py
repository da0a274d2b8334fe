"""What a claim says of itself, whichever of several names it says it under, and what may be asked about it."""

from __future__ import annotations

from typing import TypeVar

from gate.triage.grammars import currencies
from gate.triage.readers import incident as said
from gate.triage.readers.document import Answer, Unreadable
from gate.triage.rules.language import Case, Judgment

T = TypeVar("T", str, int, str | int)

# The names under which the intake may say the same thing.
ORDER = ("order", "order_id", "order_code")
CHARGE = ("charge", "charge_id")
REFUND = ("refund", "refund_id")
CART = ("cart", "cart_id")
PAYMENT_INTENT = ("payment_intent", "payment_intent_id")
AMOUNT = ("amount", "amount_cents")
CURRENCY = ("currency",)
# Where a thing of the same name may be another thing.
SCOPES = frozenset(("tenant", "tenant_id", "account", "account_id", "organization", "organization_id", "org", "org_id",
                    "environment", "env", "region", "cluster", "project", "merchant", "merchant_id", "shop", "shop_id",
                    "store", "store_id", "site", "workspace", "workspace_id", "company", "company_id", "zone", "stage",
                    "stripe_account", "connected_account", "datacenter", "data_center"))  # fmt: skip


def is_said(case: Case, names: tuple[str, ...]) -> bool:
    """Whether subject or facts say it under any of its names."""
    return len(_places(case, names)) > 0


def text(case: Case, names: tuple[str, ...]) -> str:
    """The one text that is said. Raises Unreadable where nothing is, or two different ones."""
    found = [said.subject_text(case.incident, name) for name in _in_subject(case, names)]
    found += [said.fact_text(case.incident, name) for name in _in_facts(case, names)]
    return _the_one(frozenset(found), names)


def integer(case: Case, names: tuple[str, ...]) -> int:
    """The one whole number that is said. Raises Unreadable where none is, or two different ones."""
    found = [said.subject_integer(case.incident, name) for name in _in_subject(case, names)]
    found += [said.fact_integer(case.incident, name) for name in _in_facts(case, names)]
    return _the_one(frozenset(found), names)


def currency(case: Case) -> str:
    """The currency's code as Stripe writes it. The intake may write EUR, which is no other currency than eur."""
    return currencies.as_answered(text(case, CURRENCY))


def identifier(case: Case, names: tuple[str, ...]) -> str | int:
    """The one text or whole number of the subject that names a thing. Raises Unreadable."""
    found = frozenset(said.subject_identifier(case.incident, name) for name in _in_subject(case, names))
    return _the_one(found, names)


def is_in_scope(case: Case) -> Judgment:
    """Nothing is asked of these tools by tenant, so that of one tenant's claim no answer is known to be its own."""
    named = sorted(said.subject_keys(case.incident) & SCOPES)
    return Judgment(len(named) == 0, ", ".join(named), f"the incident is about one `{', '.join(named)}`; nobody asked.")


def asks_only(answer: Answer, known: frozenset[str]) -> Judgment:
    """Nothing was asked for besides: a further argument narrows the question or moves it elsewhere."""
    others = sorted(answer.args.keys() - known)
    return Judgment(len(others) == 0, ", ".join(others), f"it was also asked by {', '.join(others)}.")


def _the_one(found: frozenset[T], names: tuple[str, ...]) -> T:
    if len(found) != 1:
        how = "does not say" if len(found) == 0 else "says two different things of"
        raise Unreadable("", f"The incident {how} its `{names[0]}`, so nothing can be compared with it.", "not said")
    return sorted(found)[0]


def _places(case: Case, names: tuple[str, ...]) -> list[str]:
    return [*_in_subject(case, names), *_in_facts(case, names)]


def _in_subject(case: Case, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if said.subject_has(case.incident, name)]


def _in_facts(case: Case, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if said.fact_has(case.incident, name)]
