"""Fields that are known mixtures of arms, and what a study asks of a calibration."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.calibration.table import CalibrationSettings
from fieldwork.records.parsing import Answer
from fieldwork.sections.metrics import CalibrationSection
from unit.metrics.metric_frames import answer_frame

ARMS = ("offline", "history", "profile")
LETTERS = "ABCD"


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


def letter(
    condition: str, item: int, puppet: str | None, replicate: int, answer: str | None
) -> Answer:
    """One choice answer; None is unreadable."""
    return Answer(
        "m", "t", condition, f"i{item:02}", puppet, replicate, "choice", "ok", None, None, answer,
        answer, None if answer else "no letter found",
    )  # fmt: skip


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
        for arm, condition in enumerate(ARMS):
            letters = random.choice(list(LETTERS), p=shares[arm, item], size=n_arm)
            rows += [
                letter(
                    condition, item, None if arm == 0 else f"p{k:03}", k * (arm == 0), str(answer)
                )
                for k, answer in enumerate(letters)
            ]
        if mixture is not None:
            shares_of_field = np.asarray(mixture) @ shares[:, item]
            letters = random.choice(list(LETTERS), p=shares_of_field, size=n_field)
            rows += [
                letter("field", item, f"person{k:03}", 0, str(answer))
                for k, answer in enumerate(letters)
            ]
    return answer_frame(rows)
