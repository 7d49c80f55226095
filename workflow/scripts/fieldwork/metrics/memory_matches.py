"""How much of what is true of users is known of them: attributes held against a reference, softly.

An attribute and a reference say the same if the cosine of their vectors reaches a threshold. Each counts
once: of each user the pairs are chosen so that as many as possible match, and among these the nearest
(the assignment problem; Kuhn 1955, Naval Research Logistics Quarterly 2:83-97). Intervals leave out
users.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.encoder import Vectors
from fieldwork.errors import StudyError
from fieldwork.estimates.quantity import Quantity
from fieldwork.records.memory import Attribute, MemoryMatch, MemoryStage
from fieldwork.statistics.arrays import Floats

Encode = Callable[[Sequence[str]], Vectors]

NOTHING_KNOWN = "nothing is known of these users"


class _UserCounts(NamedTuple):
    """Of each user: attributes, references, and pairs that match."""

    n_attributes: Floats
    n_references: Floats
    n_matches: Floats


def match_rows(
    stages: Mapping[MemoryStage, Sequence[Attribute]],
    users: Sequence[str],
    references: Sequence[Mapping[str, str]],
    encode: Encode,
    *,
    match_above: float,
    rarest_users: float,
) -> Iterator[MemoryMatch]:
    """Precision, recall and F1 of what is known, before and after it is verified.

    Args:
        stages: the attributes of each stage.
        users: who are remembered.
        references: rows with `user_id` and `attribute`.
        match_above: cosine from which two texts say the same.
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: the reference has no attribute of a user who is remembered.
    """
    by_user: dict[str, list[str]] = {user: [] for user in users}
    for row in references:
        if row["user_id"] in by_user:
            by_user[row["user_id"]].append(row["attribute"])
    owners = [user for user, texts in by_user.items() if texts]
    if not owners:
        raise StudyError(
            "memory.reference: none of its user_id is a user who is remembered; write the ids that the "
            "corpus has"
        )
    for stage, attributes in stages.items():
        counts = _counts(attributes, {u: by_user[u] for u in owners}, encode, match_above)
        for measure in ("precision", "recall", "f1"):
            value = _share(measure, counts, np.ones(len(owners)))
            rest = np.array(
                [
                    np.nan if (v := _share(measure, counts, mask)) is None else v
                    for mask in 1 - np.eye(len(owners))
                ]
            )
            quantity = Quantity.over_users(value, rest, rarest_users)
            quantity = quantity.because(NOTHING_KNOWN if value is None else None)
            yield MemoryMatch(
                stage=stage,
                measure=measure,
                **quantity.columns(),
                match_above=match_above,
                n_users=len(owners),
                n_attributes=int(counts.n_attributes.sum()),
                n_references=int(counts.n_references.sum()),
                n_matches=int(counts.n_matches.sum()),
                reason=quantity.reason,
            )


def _counts(
    attributes: Sequence[Attribute],
    references: Mapping[str, Sequence[str]],
    encode: Encode,
    match_above: float,
) -> _UserCounts:
    texts: dict[str, list[str]] = {user: [] for user in references}
    for attribute in attributes:
        if attribute.user_id in texts:
            texts[attribute.user_id].append(attribute.text)
    everything = [t for part in (*texts.values(), *references.values()) for t in part]
    unique_texts = list(dict.fromkeys(everything))
    vectors = dict(zip(unique_texts, encode(unique_texts), strict=True))
    n_matches = [
        count_matches(
            np.array([vectors[text] for text in texts[user]]),
            np.array([vectors[text] for text in references[user]]),
            match_above,
        )
        if texts[user]
        else 0
        for user in references
    ]
    return _UserCounts(
        np.array([len(texts[user]) for user in references], dtype=np.float64),
        np.array([len(part) for part in references.values()], dtype=np.float64),
        np.array(n_matches, dtype=np.float64),
    )


def count_matches(first: Vectors, second: Vectors, match_above: float) -> int:
    """The most pairs, each vector in one at most, whose cosine reaches the threshold.

    Args:
        first, second: unit vectors, shapes (n, dimensions) and (m, dimensions).
    """
    from scipy.optimize import linear_sum_assignment

    # the last bits of a product are rounding: equal texts have a cosine of 1
    cosines = np.round((first[:, None] * second[None]).sum(axis=2, dtype=np.float64), 6)
    is_match = cosines >= match_above
    # a match is worth more than any nearness of others
    worth = np.where(is_match, 10.0 + cosines, 0.0)
    rows, columns = linear_sum_assignment(worth, maximize=True)
    return int(is_match[rows, columns].sum())


def _share(measure: str, counts: _UserCounts, weights: Floats) -> float | None:
    n_attributes, n_references, n_matches = (float(part @ weights) for part in counts)
    part, whole = {
        "precision": (n_matches, n_attributes),
        "recall": (n_matches, n_references),
        "f1": (2 * n_matches, n_attributes + n_references),
    }[measure]
    return part / whole if whole else None
