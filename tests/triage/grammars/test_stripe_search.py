"""A search of Stripe's is read when every clause is one exact match, and all of them must hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.triage.grammars.stripe_search import Clause, parse
from gate.triage.readers.document import Unreadable

ORDER = Clause("order", True, "PTX-A1")
READ = [
    ("metadata['order']:'PTX-A1'", (ORDER,)),
    ('metadata["order"]:"PTX-A1"', (ORDER,)),
    ("metadata[\"order\"]:'PTX-A1'", (ORDER,)),
    ("metadata['order']:'PTX-A1' AND currency:'eur'", (ORDER, Clause("currency", False, "eur"))),
    ("metadata['order']:'PTX-A1' and currency:'eur'", (ORDER, Clause("currency", False, "eur"))),
    ("metadata['order']:'PTX-A1'  status:'succeeded'", (ORDER, Clause("status", False, "succeeded"))),
    ("metadata['order']:''", (Clause("order", True, ""),)),
]
NOT_READ = [
    "", " ", "PTX-A1", "metadata['order']", "metadata['order']:", "metadata['order']:PTX-A1", "order:'PTX-A1",
    "metadata['order']~'PTX'", "-metadata['order']:'PTX-A1'",
    "metadata['order']:'PTX-A1' OR metadata['order']:'PTX-A2'", "metadata['order']:'PTX-A1' AND",
    "AND metadata['order']:'PTX-A1'", "metadata['order']:'PTX-A1'metadata['order']:'x'",
    "metadata['order']:'PTX-A1' AND AND currency:'eur'", "amount>100", "amount:100", "metadata[order]:'PTX-A1'",
    "metadata['order']:null", "metadata['order']:'PTX-A1' -status:'failed'", "metadata['order']:'a\\'b'", "x" * 600,
    "metadata['order']: 'PTX-A1'", "(metadata['order']:'PTX-A1')", "metadata['order']:'PTX-A1'\nOR x:'y'",
]  # fmt: skip


@pytest.mark.parametrize(("text", "meant"), READ)
def test_exact_matches_are_read(text: str, meant: tuple[Clause, ...]) -> None:
    assert parse(text) == meant


@pytest.mark.parametrize("text", NOT_READ, ids=[text[:40] for text in NOT_READ])
def test_anything_else_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable, match="more than exact matches"):
        parse(text)


@given(text=st.text() | st.text(alphabet="metadata['order']:\"ANDOR ~-<>"))
def test_whatever_is_written_it_is_read_or_refused(text: str) -> None:
    try:
        clauses = parse(text)
    except Unreadable:
        return
    assert len(clauses) > 0
