"""A row of results.csv: a number of this model beside a claim of the paper, or a fact about the run."""

from typing import NamedTuple


class Row(NamedTuple):
    """A number, or a fact.

    Attributes:
        part: `about` for facts, `claim` for numbers, `unread` for shares of answers that cannot be read,
            `probabilities` for estimates from letters drawn and from their probabilities (`note`).
        claim: name of the claim in paper.py, or of the fact.
        condition: an arm of the study; the control stands beside the others, without an outcome.
        n: answers, users or reruns that the value is of.
        unit: of the values: `share`, `bits`, `points`, `letters`, `prompts`, `items`, `ratio`.
        baseline: the same value offline at T = 1.
        difference: as the tables of the study have it, with its 95 % interval.
        n_higher, n_estimates: of a claim about many estimates, how many speak for it, of how many.
        outcome: by the rule of verdicts.py; empty where no claim is judged.
        note: the reason, the option, or the fact itself.
    """

    part: str
    claim: str
    model: str = ""
    condition: str = ""
    n: int | None = None
    unit: str = ""
    baseline: float | None = None
    value: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    n_higher: int | None = None
    n_estimates: int | None = None
    outcome: str = ""
    note: str = ""
