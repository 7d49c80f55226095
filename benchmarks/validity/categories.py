"""Who asks by category of subject: the level of the test, and the interval of a category's mean."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from outcomes import Job, Outcome, outcome
from populations import SHARES, Floats, draw_letters, letter_table, puppet_shares

from fieldwork.metrics.categories import measure_categories, measure_subjects
from fieldwork.records.metrics import CategoryVariance

PART = "categories"
PERMUTATIONS = 199
PUPPETS, ANSWERS = 10, 2
# questions of the subjects of MMLU's test split, by category
MMLU = {
    "STEM": (
        100,
        100,
        100,
        100,
        100,
        100,
        102,
        112,
        144,
        145,
        151,
        152,
        203,
        216,
        235,
        270,
        310,
        378,
    ),
    "humanities": (108, 121, 126, 163, 165, 171, 204, 237, 311, 324, 346, 895, 1534),
    "social sciences": (100, 110, 114, 131, 193, 198, 201, 238, 245, 390, 545, 612),
    "other": (100, 100, 100, 103, 135, 166, 173, 223, 234, 265, 272, 282, 306, 783),
}
FEWER = 10
"""Every subject is this many times smaller than MMLU's, so that a thousand studies take minutes."""
IMPURITY = float(1 - (SHARES**2).sum())
"""Variance of one letter drawn from the mean shares."""


def jobs() -> Iterator[Job]:
    """No user matters; users matter alike; some subjects more than others; and one category more."""
    for low, high in ((0.0, 0.0), (0.1, 0.1), (0.0, 0.2)):
        yield partial(_alike, low, high)
    yield _apart


def _alike(low: float, high: float, sets: int, seed: int) -> Iterator[Outcome]:
    """Correlations are drawn for each subject from one uniform distribution, whatever the category."""
    random = np.random.default_rng([seed, int(100 * low), int(100 * high)])
    n = max(1, sets // 4)
    rows = [_study(dict.fromkeys(MMLU, (low, high)), random) for _ in range(n)]
    source = f"letters, correlation {low:g}" + (f" to {high:g}" if high > low else "")
    truth = IMPURITY * (low + high) / 2
    for category in MMLU:
        of = [row for study in rows for row in study if row.category == category]
        yield outcome(
            PART,
            f"mean var_who, {category}",
            source,
            _size(),
            truth=truth,
            estimates=[row.var_who for row in of],
            intervals=[(row.ci_low, row.ci_high) for row in of],
        )
    yield outcome(
        PART,
        "test that categories are alike",
        source,
        _size(),
        truth=None,
        p_values=[study[0].p_value for study in rows],
    )


def _apart(sets: int, seed: int) -> Iterator[Outcome]:
    """Not an error: how often a true difference is found, in the column of found differences."""
    random = np.random.default_rng([seed, 999])
    spans = {c: (0.15, 0.25) if c == "humanities" else (0.0, 0.2) for c in MMLU}
    rows = [_study(spans, random) for _ in range(max(1, sets // 4))]
    yield outcome(
        PART,
        "test, humanities apart (power)",
        "letters, correlation 0 to 0.2, humanities 0.15 to 0.25",
        _size(),
        truth=None,
        p_values=[study[0].p_value for study in rows],
    )


def _size() -> str:
    return f"{PUPPETS} puppets, 57 subjects, {ANSWERS} answers each"


def _study(
    spans: dict[str, tuple[float, float]], random: np.random.Generator
) -> list[CategoryVariance]:
    letters, subjects, categories = [], [], {}
    for category, sizes in MMLU.items():
        for number, size in enumerate(sizes):
            name = f"{category} {number}"
            n_items = max(1, size // FEWER)
            shares: Floats = puppet_shares(
                float(random.uniform(*spans[category])), (1, n_items, PUPPETS), random
            )
            letters.append(draw_letters(shares, ANSWERS, random))
            subjects += [name] * n_items
            categories[name] = category
    answers = letter_table(np.concatenate(letters, axis=1), condition="c", puppets=True)
    items = pd.DataFrame(
        {
            "item_id": [f"{k:05}" for k in range(len(subjects))],
            "kind": "choice",
            "choices": [["", "", "", ""]] * len(subjects),
            "gold": "A",
            "subject": subjects,
        }
    )
    measured = measure_subjects(answers, items, categories)
    return measure_categories(measured, n_permutations=PERMUTATIONS, seed=1)
