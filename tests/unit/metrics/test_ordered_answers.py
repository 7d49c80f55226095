"""Values as steps: their variance counts how far apart answers are."""

import numpy as np
import pytest
from tests.unit.metrics.values.value_frames import answer, frame

from fieldwork.metrics.ordered_answers import MOST_STEPS, read_ordered_answers
from fieldwork.metrics.variance import measure_variance


def test_an_option_beside_the_scale_and_an_unread_answer_are_options_of_their_own() -> None:
    rows = [
        answer("history", "u0", 3.0),
        answer("history", "u1", None, letter="F"),
        answer("history", "u2", None),
    ]
    ((_, items),) = read_ordered_answers(frame(rows)).items()
    assert [a.options for a in items["q"].answers] == [("step 00",), ("beside F",), ("unknown",)]
    assert items["q"].n_unread == 1


@pytest.mark.parametrize("kind", ["scale", "number"])
def test_users_who_differ_have_the_variance_between_them(kind: str) -> None:
    random = np.random.default_rng(1)
    shares = []
    for spread in (0.0, 2.0):
        levels = 3 + spread * random.uniform(-1, 1, (50, 1)) + random.normal(0, 0.6, (50, 2))
        rows = [
            answer("history", f"u{user}", float(value), replicate=replicate, kind=kind)
            for (user, replicate), value in np.ndenumerate(np.clip(np.rint(levels), 1, 5))
        ]
        (row,) = measure_variance(
            frame(rows), baseline="offline", n_permutations=99, seed=1, rarest_users=0.125
        )
        shares.append((row.share_who or 0.0, row.p_value or 0.0))
    (no_share, no_p), (share, p_value) = shares
    assert abs(no_share) < 0.3 < 0.5 < share
    assert (no_p > 0.05, p_value) == (True, 0.01)


def test_numbers_are_cut_into_steps_so_that_a_far_one_decides_nothing() -> None:
    values = [*range(100), 1_000_000]
    rows = [
        answer("history", f"u{n:03d}", float(v), kind="number", letter=None)
        for n, v in enumerate(values)
    ]
    ((_, items),) = read_ordered_answers(frame(rows)).items()
    lengths = [len(a.options) for a in items["q"].answers]
    assert (min(lengths), max(lengths)) == (1, MOST_STEPS)
    assert lengths == sorted(lengths)
