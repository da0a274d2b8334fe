"""What a formula's rows may hold: the columns that have a meaning. Any other is a key that a decomposer names. Pure.

ENTITY is the smallest thing that the value adds over, KIND what sort of share the row is. A row of the measure
`interval` or `stages` runs from STARTS to ENDS, inside the entity's own BEGINS to FINISHES, all of them in seconds.
TICK numbers what is recorded regularly, so that a missing row is seen: between FIRST_TICK and LAST_TICK, which each row
repeats, none may be missing.
"""

ENTITY, KIND = "entity", "kind"
QUANTITY, UNIT = "quantity", "unit"
NUMERATOR, DENOMINATOR = "numerator", "denominator"
STARTS, ENDS, BEGINS, FINISHES = "starts", "ends", "begins", "finishes"
PERIOD = "period"  # of a change: "before" or "after"
IS_OPEN, HAS_HISTORY = "is_open", "has_history"  # more may come of it; what is needed of its past is recorded
TICK, FIRST_TICK, LAST_TICK = "tick", "first_tick", "last_tick"

FLAGS = frozenset({IS_OPEN, HAS_HISTORY})
# Of a model's rows: what is asked about, and what repeats another.
IS_ASKED, IS_REPEATED = "is_asked", "is_repeated"
MODEL_FLAGS = frozenset({IS_ASKED, IS_REPEATED})
TICKS = frozenset({TICK, FIRST_TICK, LAST_TICK})
SPANS = frozenset({STARTS, ENDS, BEGINS, FINISHES})
# The columns that a measure needs, in every row.
NEEDED = {
    "sum": frozenset({ENTITY, KIND, QUANTITY, UNIT}),
    "precedence": frozenset({ENTITY, KIND, QUANTITY, UNIT}),
    "interval": frozenset({ENTITY, KIND}) | SPANS,
    "stages": frozenset({ENTITY, KIND}) | SPANS,
    "ratio": frozenset({KIND, NUMERATOR, DENOMINATOR}),
    "ratio_change": frozenset({KIND, PERIOD, NUMERATOR, DENOMINATOR}),
}
"""How a metric's value is formed from rows; each way needs its columns."""
