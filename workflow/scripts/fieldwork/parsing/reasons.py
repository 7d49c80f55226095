"""Why an answer has no reading: the values of the column `reason`."""

REFUSAL = "refused"
EMPTY = "empty"
NO_LIST = "no list found"
NO_LETTER = "no letter found"
AMBIGUITY = "ambiguous"

OUTCOME_REASONS = {
    "refused": REFUSAL,
    "filtered": "filtered by the provider",
    "empty": EMPTY,
    "failed": "failed",
}
"""Outcomes of a call that leave nothing to read."""
