"""Fields that are known mixtures of arms, and what a study asks of a calibration."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.calibration.table import CalibrationSettings
from fieldwork.records.parsing import Answer
from fieldwork.sections.metrics import CalibrationSection
from unit.metrics.metric_frames import answer_frame, asked, chosen

ARMS = ("offline", "history", "profile")


def settings(**changes: Any) -> CalibrationSettings:
    """The defaults of the config, for one model and task."""
    parts: dict[str, Any] = {"over": ["conditions"], "folds": 4, "repeats": 1}
    chance: dict[str, Any] = {"n_permutations": 99, "seed": 1}
    chance |= {"rarest_users": 0.125, "rarest_prompts": 0.5}
    own: dict[str, Any] = {"models": ["m"], "tasks": ["t"], "conditions": ARMS}
    for name, value in changes.items():
        next(one for one in (parts, chance, own) if name in one)[name] = value
    return CalibrationSettings(
        **own, section=CalibrationSection(**parts), chance=ChanceSettings(**chance)
    )


def users_letters(condition: str, item: int, letters: Sequence[str]) -> list[Answer]:
    """A letter a user; under the baseline there are none."""
    place = {"condition": condition, "item_id": f"i{item:02}"}
    if condition == "offline":
        return chosen(letters, **place)
    return asked({f"p{k:03}": letter for k, letter in enumerate(letters)}, **place)


def study(
    mixture: Sequence[float] | None,
    *,
    prompts: int = 8,
    n_field: int = 80,
    n_arm: int = 40,
    seed: int = 3,
) -> pd.DataFrame:
    """Letters of three arms of different sources, and of a field that mixes them.

    Without a mixture nobody answers in the field.
    """
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(4, 0.6), size=(len(ARMS), prompts))
    rows: list[Answer] = []
    for item in range(prompts):
        sides = [(arm, shares[k, item], n_arm) for k, arm in enumerate(ARMS)]
        if mixture is not None:
            sides.append(("field", np.asarray(mixture) @ shares[:, item], n_field))
        for condition, chances, n in sides:
            letters = random.choice(list("ABCD"), p=chances, size=n).tolist()
            rows += users_letters(condition, item, letters)
    return answer_frame(rows)
