"""Differences between groups of participants, with and without one."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import (
    Floats,
    Zipf,
    draw_letters,
    draw_lists,
    letter_table,
    list_table,
    puppet_shares,
    rarest_covered,
)

from fieldwork.metrics.groups.tests import measure_group_differences
from fieldwork.records.field import GroupDifference

PART = "groups"
ITEMS, LETTER_ITEMS, OPTIONS, PERMUTATIONS = 9, 4, 60, 199
HABIT = 1.0
"""Standard deviation of a participant's own log weights, the same for all prompts."""
ANSWERED = 0.8
"""Share of the prompts that a participant answers, where some are missing."""


class Groups(NamedTuple):
    """Sizes of the groups, and whether every prompt is answered."""

    sizes: tuple[int, ...]
    whole: bool = True

    def name(self) -> str:
        """As the tables call it."""
        *some, last = self.sizes
        return f"{', '.join(map(str, some))} and {last} participants" + (
            "" if self.whole else ", a fifth of the answers missing"
        )

    def of_participants(self) -> list[int]:
        """The number of each participant's group."""
        return [number for number, size in enumerate(self.sizes) for _ in range(size)]


SIZES = (
    Groups((40, 40)),
    Groups((10, 30)),
    Groups((40, 40), whole=False),
    Groups((40, 40, 40)),
    Groups((10, 20, 30), whole=False),
)
METRICS = {
    "difference of mean entropies": "entropy_bits",
    "difference of mean shares beyond the top five": "one_minus_top5_share",
}
SOURCES = ("alike", "one group varies more", "other options, as varied")


def jobs() -> Iterator[Job]:
    """Lists of two and three groups, letters of two."""
    for source in SOURCES:
        for size in SIZES:
            yield partial(_lists, source, size)
    for gap in (0.0, 0.2):
        yield partial(_letters, gap)


def _lists(source: str, size: Groups, sets: int, seed: int) -> Iterator[Outcome]:
    sets = max(1, sets // 4)
    random = np.random.default_rng([seed, SOURCES.index(source), *size.sizes, size.whole])
    group_of = size.of_participants()
    n = len(group_of)
    habits = HABIT * random.normal(size=(sets, 1, n, 1, OPTIONS))
    weights = np.stack([_weights(source, group) for group in group_of])
    given = draw_lists(
        np.broadcast_to(weights[None, None, :, None, :] + habits, (sets, ITEMS, n, 1, OPTIONS)),
        random,
    )
    frame = list_table(given, condition="field", puppets=True)
    if not size.whole:
        frame = frame[random.random(len(frame)) < ANSWERED]
    rows = measure(frame, group_of)
    name, where = f"lists, {ITEMS} prompts, {source}", size.name()
    means = [r for r in rows if r.item_id is None]
    for told, metric in METRICS.items():
        # of several groups the first, which is the one that varies more
        rows_of_metric = [r for r in means if r.metric == metric and r.group == "0"]
        yield outcome(
            PART, told, name, where,
            truth=None if source == "one group varies more" else 0.0,
            estimates=[r.difference for r in rows_of_metric],
            intervals=[(r.ci_low, r.ci_high) for r in rows_of_metric],
            p_values=[r.p_value for r in rows_of_metric],
        )  # fmt: skip
    tested = {"any prompt, divergence, Holm": "js_bits"}
    if len(size.sizes) == 2:  # of several groups, more tests than so few shuffles can tell
        tested |= {"any prompt, entropy, Holm": "entropy_bits"}
    for told, metric in tested.items():
        yield outcome(PART, told, name, where, truth=None, p_values=_smallest(rows, metric))
    yield outcome(
        PART, "mean divergence between groups", name, where,
        truth=0.0 if source == "alike" else None,
        estimates=[r.difference for r in means if r.metric == "js_bits"],
        p_values=[r.p_value for r in means if r.metric == "js_bits"],
    )  # fmt: skip


def _weights(source: str, group: int) -> Floats:
    common = Zipf(OPTIONS, 1.5).log_weights()
    if group == 0 and source == "one group varies more":
        return Zipf(OPTIONS, 1.2).log_weights()
    return np.roll(common, 5 * group) if source.startswith("other") else common


def measure(frame: pd.DataFrame, group_of: Sequence[int]) -> list[GroupDifference]:
    """Differences between the groups of participants 0 and on."""
    participants = pd.DataFrame(
        {
            "participant_id": [f"p{k:04}" for k in range(len(group_of))],
            "variable": "group",
            "group": [str(group) for group in group_of],
        }
    )
    names = [f"{k:05}" for k in range(LETTER_ITEMS)]
    items = pd.DataFrame({"item_id": names, "kind": "choice", "gold": "A", "subject": None})
    items["choices"] = [list("ABCD")] * LETTER_ITEMS
    smallest = min(group_of.count(group) for group in group_of)
    return measure_group_differences(
        frame,
        items,
        participants,
        n_permutations=PERMUTATIONS,
        seed=1,
        rarest_users=rarest_covered(smallest),
    )


def _smallest(rows: list[GroupDifference], metric: str) -> list[float | None]:
    smallest: dict[str, float] = {}
    for row in rows:
        if row.metric == metric and row.item_id is not None and row.p_holm is not None:
            smallest[row.task] = min(row.p_holm, smallest.get(row.task, 1.0))
    return list(smallest.values())


def _letters(gap: float, sets: int, seed: int) -> Iterator[Outcome]:
    """Groups of 40 whose share correct differs by `gap`, puppets with habits of their own."""
    sets, n = max(1, sets // 2), 80
    random = np.random.default_rng([seed, int(gap * 100)])
    letters = draw_letters(puppet_shares(0.3, (sets, LETTER_ITEMS, n), random), 1, random)
    # some wrong answers of the first group become right
    wrong = letters[:, :, :40] > 0
    turned = wrong & (random.random(wrong.shape) < gap / 0.45)
    letters[:, :, :40][turned] = 0
    rows = measure(letter_table(letters, condition="field", puppets=True), [0] * 40 + [1] * 40)
    means = [r for r in rows if r.item_id is None and r.metric == "share_correct"]
    yield outcome(
        PART, "difference of mean shares correct",
        f"letters, {LETTER_ITEMS} prompts, {'alike' if not gap else '20 points apart'}",
        "40 and 40 participants", truth=gap, estimates=[r.difference for r in means],
        intervals=[(r.ci_low, r.ci_high) for r in means], p_values=[r.p_value for r in means],
    )  # fmt: skip
