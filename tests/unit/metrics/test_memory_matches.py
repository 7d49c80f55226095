"""Attributes held against what is true: each pair counts once, and the threshold decides."""

from collections.abc import Sequence

import numpy as np
import pytest

from fieldwork.encoder import Vectors
from fieldwork.errors import StudyError
from fieldwork.metrics.memory_matches import count_matches, match_rows
from fieldwork.records.memory import Attribute, MemoryMatch


def circle(*degrees: float) -> Vectors:
    radians = np.radians(degrees)
    return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)


def test_each_counts_in_one_pair_and_as_many_as_possible_match() -> None:
    # both attributes are near the first reference, and one of them near the second too
    assert count_matches(circle(0, 20), circle(10, 40), 0.9) == 2
    assert count_matches(circle(0, 5), circle(2), 0.9) == 1
    assert count_matches(circle(0, 90), circle(45), 0.9) == 0
    assert count_matches(circle(0), circle(0), 1.0) == 1


def encode(texts: Sequence[str]) -> Vectors:
    """Equal words are alike, and others are not."""
    words = sorted({text.split()[0] for text in texts})
    return np.eye(len(words), dtype=np.float32)[[words.index(text.split()[0]) for text in texts]]


def rows(stated: dict[str, list[str]], true: dict[str, list[str]]) -> dict[str, MemoryMatch]:
    attributes = [
        Attribute(f"{user}{text}", user, 0, text, "fact", None, 1, None, [])
        for user, texts in stated.items()
        for text in texts
    ]
    references = [{"user_id": u, "attribute": t} for u, texts in true.items() for t in texts]
    made = match_rows(
        {"read": attributes}, list(stated), references, encode, match_above=0.7, rarest_users=0.125
    )
    return {row.measure: row for row in made}


def test_shares_are_over_all_attributes_and_references() -> None:
    found = rows(
        {"u1": ["nurse", "dog", "pilot"], "u2": [], "u3": ["tea"]},
        {"u1": ["nurse by trade", "dog owner"], "u2": ["baker", "runner"], "u9": ["ghost"]},
    )
    # of u3 nothing is known to be true, so that nothing can be said of what is stated
    assert found["precision"].estimate == pytest.approx(2 / 3)
    assert found["recall"].estimate == pytest.approx(2 / 4)
    assert found["f1"].estimate == pytest.approx(4 / 7)
    assert (found["f1"].n_users, found["f1"].n_attributes, found["f1"].n_references) == (2, 3, 4)
    assert "39 are needed" in (found["f1"].reason or "")


def test_nothing_known_is_a_reason_and_a_reference_of_strangers_is_refused() -> None:
    found = rows({"u1": []}, {"u1": ["nurse"]})
    assert (found["precision"].estimate, found["precision"].reason) == (
        None,
        "nothing is known of these users",
    )
    assert found["recall"].estimate == 0
    with pytest.raises(StudyError, match=r"memory\.reference: none of its user_id"):
        rows({"u1": ["nurse"]}, {"u2": ["nurse"]})


def test_intervals_hold_the_truth_with_odd_users_and_unequal_sizes() -> None:
    random = np.random.default_rng(5)

    def study() -> dict[str, MemoryMatch]:
        stated, true = {}, {}
        for user in (f"u{number}" for number in range(60)):
            # of three users in ten hardly anything is known
            share = 0.1 if random.random() < 0.3 else 0.4
            n = 1 + int(random.poisson(3))
            n_true = min(3, int(random.binomial(n, share)))
            stated[user] = [f"{user}{k < n_true}{k}" for k in range(n)]
            true[user] = [f"{user}True{k}" for k in range(3)]
        return rows(stated, true)

    studies = [study() for _ in range(150)]
    for measure in ("precision", "recall", "f1"):
        estimates = [one[measure] for one in studies]
        truth = np.mean([row.estimate for row in estimates])
        hits = [(row.ci_low or 0) <= truth <= (row.ci_high or 0) for row in estimates]
        assert np.mean(hits) >= 0.9
