"""A key that is enforced: entities that repeat another would not have come to be, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.metrics import columns
from evidence.metrics.decomposers import precedence
from evidence.metrics.measure import Measure, Unmeasured
from evidence.metrics.rows import Line
from evidence.metrics.simulations.model import Model, Simulated
from evidence.metrics.status import Code, because

OFF, ON = "off", "on"


def run(measure: Measure, lines: Sequence[Line], factual: str, value: str) -> Simulated:
    """The value without what would not exist. An entity is repeated or not, whichever of its rows is asked."""
    if {factual, value} - {OFF, ON}:
        raise Unmeasured(because(Code.NOT_LISTED, value=value))
    repeated = {line.text(columns.ENTITY) for line in lines if line.flag(columns.IS_REPEATED, False)}
    if factual == ON and value == OFF:
        # What a key kept from coming to be was never recorded.
        raise Unmeasured(because(Code.NO_DATA, column=columns.IS_REPEATED))
    kept = [line for line in lines if value == factual or line.text(columns.ENTITY) not in repeated]
    found = precedence.value(measure.shares(kept))
    return Simulated(found, found, found)


MODEL = Model(
    run, frozenset({columns.ENTITY, columns.KIND, columns.QUANTITY, columns.UNIT, columns.IS_REPEATED}), columns.FLAGS
)
