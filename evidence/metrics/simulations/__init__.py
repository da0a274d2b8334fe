"""Models of bounded counterfactuals: a closed set. Each recounts recorded rows with one variable set otherwise."""

from __future__ import annotations

from evidence.metrics.simulations import enforced_key, first_in_first_out, swapped_rate, truncated_attempts

MODELS = {
    "truncated_attempts": truncated_attempts.MODEL,
    "first_in_first_out": first_in_first_out.MODEL,
    "swapped_rate": swapped_rate.MODEL,
    "enforced_key": enforced_key.MODEL,
}
