"""Lengths of lists are those written and those that count, by arm."""

import dataclasses

from fieldwork.metrics.list_lengths import measure_list_lengths
from fieldwork.records.metrics import ListLength
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import answer_frame, listed


def with_lengths(answers: list[Answer], *, n_asked: int | None, n_items: list[int]) -> list[Answer]:
    return [
        dataclasses.replace(a, n_asked=n_asked, n_items=n)
        for a, n in zip(answers, n_items, strict=True)
    ]


def test_lengths_are_means_and_shares() -> None:
    answers = with_lengths(
        listed(["a", "b"], ["a", "b"], ["a"], ["b", "c"]), n_asked=2, n_items=[2, 5, 1, 2]
    )
    (row,) = measure_list_lengths(answer_frame(answers))
    assert row == ListLength("m", "t", "c", 2.5, 0.25, 0.25, 1.75, 4, 0)
