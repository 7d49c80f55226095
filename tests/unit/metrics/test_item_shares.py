"""Shares of answers that name an option: by hand, and without lists."""

import pandas as pd
import pytest

from fieldwork.metrics.item_shares import measure_item_shares
from unit.metrics.metric_frames import answer_frame, chosen, listed


def test_item_shares_by_hand() -> None:
    rows = measure_item_shares(answer_frame(listed("ab", "a", None, "acb", "a")))
    assert [(r.answer, r.n_named, r.n_responses, r.share) for r in rows] == [
        ("a", 4, 4, 1.0),
        ("b", 2, 4, 0.5),
        ("c", 1, 4, 0.25),
    ]
    # 2 of 4, z = 1.959964: centre 0.5, half width z sqrt(1/16 + z²/64) / (1 + z²/4)
    assert (rows[1].ci_low, rows[1].ci_high) == pytest.approx((0.150039, 0.849961), abs=1e-6)
    assert rows[0].ci_high == 1.0


@pytest.mark.parametrize("answers", [pd.DataFrame(), answer_frame([]), answer_frame(chosen("AB"))])
def test_without_lists_there_are_no_rows(answers: pd.DataFrame) -> None:
    assert measure_item_shares(answers) == []
