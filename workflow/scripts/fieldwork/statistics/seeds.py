"""Random numbers of a cell: they depend on its own name and the study's seed, never on other cells."""

import hashlib
import json

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """Random numbers of one purpose in one cell; JSON keeps ("ab", "c") and ("a", "bc") apart."""
    digest = hashlib.sha256(json.dumps([seed, *names]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest))
