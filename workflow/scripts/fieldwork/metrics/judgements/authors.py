"""Whether a judge puts authors, models mostly, into the order that people put them into.

An author's score is the mean rating of what it wrote; of pairs, how far its side was preferred, on the
scale's own steps from its middle. Few models are compared as a rule, so the test is a permutation test
over all orders of them, and with three models no order is significant.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.rows import (
    CORRELATION,
    EstimateName,
    EstimateValue,
    basis_of,
    estimate_row,
)
from fieldwork.metrics.judgements.sample import JudgementSample
from fieldwork.records.judging import JudgementEstimate
from fieldwork.statistics.rank_correlation import correlate_ranks, rho_permutation_test

FEWEST_AUTHORS = 3
"""Authors below which an order says nothing."""
N_PERMUTATIONS = 9_999
"""Random orders, where there are too many authors for all."""


def author_rows(
    sample: JudgementSample, name: EstimateName, rows: pd.DataFrame, people: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    """Spearman's ρ over authors between a judge and people, on units that both judged.

    Args:
        rows: of the judge.
    """
    units = np.intersect1d(rows["unit"], people["unit"])
    sides = [side[side["unit"].isin(units)] for side in (rows, people)]
    of_judge, of_people = (author_scores(sample, side) for side in sides)
    authors = of_judge.index.intersection(of_people.index).sort_values()
    if len(authors) < FEWEST_AUTHORS:
        return
    first, second = (scores.loc[authors].to_numpy() for scores in (of_judge, of_people))
    rho = correlate_ranks(first, second).rho
    # every order where there are few authors, else random ones that are the same in every run
    test = rho_permutation_test(
        first, second, n_permutations=N_PERMUTATIONS, random=np.random.default_rng(0)
    )
    result = EstimateValue(
        rho,
        ends=CORRELATION,
        p_value=None if rho is None else test.p_value,
        reason="authors are compared, not users" if rho is not None else "all authors are alike",
    )
    basis = basis_of(sides[1])
    yield estimate_row(sample, name._replace(measure="rho_of_authors"), result, basis)


def author_scores(sample: JudgementSample, rows: pd.DataFrame) -> pd.Series:
    """The score of each author: units count alike, and those of one author's both sides not at all."""
    numbers = sample.numbers()
    middle = (numbers[0] + numbers[-1]) / 2
    ratings = numbers[rows["place"].to_numpy()]
    of_pairs = rows["author_b"].notna().to_numpy()
    is_between = of_pairs & rows["author_a"].ne(rows["author_b"]).to_numpy()
    parts = [
        (rows["author_a"][~of_pairs], ratings[~of_pairs]),
        (rows["author_a"][is_between], middle - ratings[is_between]),
        (rows["author_b"][is_between], ratings[is_between] - middle),
    ]
    frame = pd.concat(
        [
            pd.DataFrame({"author": author, "unit": rows["unit"][author.index], "score": score})
            for author, score in parts
        ]
    ).dropna(subset="author")
    by_unit = frame.groupby(["author", "unit"])["score"].mean()
    scores: pd.Series = by_unit.groupby("author").mean()
    return scores
