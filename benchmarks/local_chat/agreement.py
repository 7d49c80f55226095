"""How near the next token's distributions of a runtime are to those of another."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.float32]


class Agreement(NamedTuple):
    """Over prompts.

    Attributes:
        same_top: share of prompts with the same most likely token.
        distance: mean total variation distance.
    """

    same_top: float
    distance: float


def read_logits(file: Path, n_prompts: int) -> Logits:
    """(prompts, tokens), as a client wrote them."""
    return np.fromfile(file, dtype=np.float32).reshape(n_prompts, -1)


def agreement(own: Logits, reference: Logits) -> Agreement:
    """Of two runtimes over the same prompts."""
    distances = [
        np.abs(_shares(a) - _shares(b)).sum() / 2 for a, b in zip(own, reference, strict=True)
    ]
    same = own.argmax(1) == reference.argmax(1)
    return Agreement(float(same.mean()), float(np.mean(distances)))


def _shares(logits: Logits) -> npt.NDArray[np.float64]:
    powers = np.exp(logits.astype(np.float64) - float(logits.max()))
    return np.asarray(powers / powers.sum())
