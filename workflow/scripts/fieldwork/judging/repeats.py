"""Which of a rater's judgements of a unit counts for all who read them: the first one with a value."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from fieldwork.records.judging import Judgement


def number_repeats(judgements: Sequence[Judgement]) -> list[Judgement]:
    """The judgements in their order, those of a rater, unit and scale numbered from 0.

    Those without a value come last: skipping a unit is no judgement that a later one repeats.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    numbers: dict[int, int] = {}
    # a stable sort: those with a value first, each part in its order
    for place in sorted(range(len(judgements)), key=lambda i: judgements[i].value is None):
        judgement = judgements[place]
        names = (judgement.scale, judgement.unit_id, judgement.rater)
        numbers[place] = counts[names]
        counts[names] += 1
    return [replace(judgement, repeat=numbers[i]) for i, judgement in enumerate(judgements)]
