"""The share of the answers to a list item that name each option."""

from collections import Counter

import pandas as pd

from fieldwork.estimates.answer_sets import read_list_answers
from fieldwork.records.metrics import ItemShare
from fieldwork.statistics.intervals import wilson_interval


def measure_item_shares(answers: pd.DataFrame) -> list[ItemShare]:
    """Share of readable answers that name each option, with 95 % Wilson intervals.

    An option that no answer names has no row; the commonest options come first.
    """
    rows = []
    for arm, items in read_list_answers(answers).items():
        for item, item_answers in items.items():
            options = item_answers.independent()
            counts = Counter(option for names in options for option in names)
            for option, count in sorted(counts.items(), key=_commonest_first):
                low, high = wilson_interval(count, len(options))
                rows.append(
                    ItemShare(
                        model=arm.model,
                        task=arm.task,
                        condition=arm.condition,
                        item_id=item,
                        answer=option,
                        n_named=count,
                        n_responses=len(options),
                        share=count / len(options),
                        ci_low=low,
                        ci_high=high,
                    )
                )
    return rows


def _commonest_first(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]
