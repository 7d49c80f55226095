"""Differences between groups of participants, with and without one."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
from populations import (
    Floats,
    Zipf,
    answer_table,
    choice_items,
    draw_letters,
    draw_lists,
    puppet_shares,
    rarest_covered,
)
from simulations import Line, Lines, Sets, Simulation, columns_of, line_of

from fieldwork.metrics.groups.tests import measure_group_differences
from fieldwork.records.field import GroupDifference

ITEMS, LETTER_ITEMS, OPTIONS, PERMUTATIONS = 9, 4, 60, 199
HABIT = 1.0
"""Standard deviation of a participant's own log weights, the same for all prompts."""
ANSWERED = 0.8
"""Share of the prompts that a participant answers, where some are missing."""
SIZES = (
    *(((40, 40), True), ((10, 30), True), ((40, 40), False), ((40, 40, 40), True)),
    ((10, 20, 30), False),
)
"""Sizes of the groups, and whether every prompt is answered."""
METRICS = {
    "difference of mean entropies": "entropy_bits",
    "difference of mean shares beyond the top five": "one_minus_top5_share",
}
SOURCES = ("alike", "one group varies more", "other options, as varied")


def _name(sizes: tuple[int, ...], is_whole: bool) -> str:
    *first, last = map(str, sizes)
    missing = "" if is_whole else ", a fifth of the answers missing"
    return f"{', '.join(first)} and {last} participants{missing}"


def _lists(source: str, sizes: tuple[int, ...], is_whole: bool, sets: Sets) -> Lines:
    group_of = [number for number, size in enumerate(sizes) for _ in range(size)]
    n = len(group_of)
    habits = HABIT * sets.random.normal(size=(sets.n, 1, n, 1, OPTIONS))
    weights = np.stack([_weights(source, group) for group in group_of])[:, None, :] + habits
    shape = (sets.n, ITEMS, n, 1, OPTIONS)
    frame = answer_table(draw_lists(np.broadcast_to(weights, shape), sets.random), "field")
    if not is_whole:
        frame = frame[sets.random.random(len(frame)) < ANSWERED]
    rows = _differences(frame, group_of)
    # of several groups the first, which is the one that varies more
    means = columns_of({(r.metric, r.group): r} for r in rows if r.item_id is None)
    for name, metric in METRICS.items():
        truth = None if source == "one group varies more" else 0.0
        yield _difference(name, means[metric, "0"], truth, "ci")
    tested = {"any prompt, divergence, Holm": "js_bits"}
    if len(sizes) == 2:  # of several groups, more tests than so few shuffles can tell
        tested |= {"any prompt, entropy, Holm": "entropy_bits"}
    for name, metric in tested.items():
        families = columns_of(
            {r.task: r.p_holm}
            for r in rows
            if r.metric == metric and r.item_id is not None and r.p_holm is not None
        )
        yield Line(name, p_values=[min(family) for family in families.values()])
    divergences = [r for r in rows if r.item_id is None and r.metric == "js_bits"]
    truth = 0.0 if source == "alike" else None
    yield _difference("mean divergence between groups", divergences, truth)


def _difference(
    name: str, rows: Sequence[GroupDifference], truth: float | None, interval: str = ""
) -> Line:
    return line_of(name, rows, truth, value="difference", interval=interval, p_value="p_value")


def _weights(source: str, group: int) -> Floats:
    common = Zipf(OPTIONS, 1.5).log_weights()
    if group == 0 and source == "one group varies more":
        return Zipf(OPTIONS, 1.2).log_weights()
    return np.roll(common, 5 * group) if source.startswith("other") else common


def _differences(frame: pd.DataFrame, group_of: Sequence[int]) -> list[GroupDifference]:
    """Between the groups of participants 0 and on."""
    participants = pd.DataFrame(
        {
            "participant_id": [f"p{k:04}" for k in range(len(group_of))],
            "variable": "group",
            "group": [str(group) for group in group_of],
        }
    )
    return measure_group_differences(
        frame,
        choice_items([f"{k:05}" for k in range(LETTER_ITEMS)]),
        participants,
        n_permutations=PERMUTATIONS,
        seed=1,
        rarest_users=rarest_covered(min(group_of.count(group) for group in group_of)),
    )


def _letters(gap: float, sets: Sets) -> Lines:
    """Groups of 40 whose share correct differs by `gap`, puppets with habits of their own."""
    shares = puppet_shares(0.3, (sets.n, LETTER_ITEMS, 80), sets.random)
    letters = draw_letters(shares, 1, sets.random)
    # some wrong answers of the first group become right
    wrong = letters[:, :, :40] > 0
    letters[:, :, :40][wrong & (sets.random.random(wrong.shape) < gap / 0.45)] = 0
    rows = _differences(answer_table(letters, "field"), [0] * 40 + [1] * 40)
    means = [r for r in rows if r.item_id is None and r.metric == "share_correct"]
    yield _difference("difference of mean shares correct", means, gap, "ci")


SIMULATIONS = (
    *(
        Simulation(
            "groups", _lists, (source, *size), f"lists, {ITEMS} prompts, {source}", _name(*size),
            (SOURCES.index(source), *size[0], size[1]), 4,
        )
        for source, size in product(SOURCES, SIZES)
    ),
    *(
        Simulation(
            "groups", _letters, (gap,),
            f"letters, {LETTER_ITEMS} prompts, {'alike' if not gap else '20 points apart'}",
            "40 and 40 participants", (int(gap * 100),), 2,
        )
        for gap in (0.0, 0.2)
    ),
)  # fmt: skip
