"""An invented model for studies that are recorded: it answers by hashes, and otherwise for each user.

A question has shares of its own, a user leans towards some of its options, and each draw is one of them.
So differences between users, groups and wordings are there, and none between repeats.
"""

import csv
import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[2]
_OPTION = re.compile(r"^\(?([A-H])[.):] ", re.MULTILINE)
_LEANING = 0.75
"""Share of a draw that the user decides instead of the question."""

READING = "What do you learn about the user"
SELECTING = "Should this change the answer"
LIKINGS = ("short answers", "hiking", "old films", "spicy food", "gardening", "chess", "jazz")
LABELS = ("Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree")
ADVICE = (
    "Sleep well and walk a lot.",
    "Ask a friend first.",
    "I cannot help with that.",
    "Wait a day.",
)


class LoopModel:
    """Answers of the invented model to a request in the form of chat completions.

    Args:
        version: another one answers a part of the questions otherwise.
    """

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self._candidates = _candidates()

    def answer(self, request: Mapping[str, Any]) -> str:
        """What it writes: a list, a letter, a point, a number, a statement or a sentence."""
        *before, last = (message["content"] for message in request["messages"])
        user, draw = repr(before) if before else "", str(request.get("seed"))
        if READING in last:
            return self._statements(last)
        if options := _options(last):
            return min(options, key=lambda option: self._weight(option, last, user, draw))
        for prompt, names in self._candidates.items():
            if prompt in last:
                ranked = sorted(names, key=lambda name: self._weight(name, last, user, draw))
                return "\n".join(f"{place}. {name}" for place, name in enumerate(ranked[:5], 1))
        return self._value(last, user, draw)

    def _statements(self, last: str) -> str:
        first = int(_share(last) * len(LIKINGS))
        names = [LIKINGS[first], LIKINGS[(first + 2) % len(LIKINGS)]]
        statements: list[dict[str, Any]] = [
            {"attribute": f"Likes {name}", "kind": "preference", "turns": [1], "confidence": 0.9}
            for name in names
        ]
        # no turn shows it
        statements.append({"attribute": "Is a pilot", "kind": "fact", "turns": []})
        return "\n".join(json.dumps(statement) for statement in statements)

    def _weight(self, option: str, last: str, user: str, draw: str) -> float:
        """The race of exponentials: the smallest of them is a draw by the options' rates."""
        rate = _share(option, last, str(self.version if _share(last, "moves") < 0.5 else 0)) ** 3
        if user:
            rate = (1 - _LEANING) * rate + _LEANING * _share(option, last, user) ** 6
        return -math.log(_share(option, last, user, draw)) / max(rate, 1e-6)

    def _value(self, last: str, user: str, draw: str) -> str:
        shift = (_share(last, user) - 0.3) if user else 0.0
        noise = _share(last, user, draw, "value") + _share(last, draw, "more") - 1
        if "kg" in last or "bicycle" in last:
            pounds = 22 + 8 * shift + 6 * noise
            return f"I would say {pounds:.0f} pounds." if noise > -0.8 else "Hard to say."
        if "agree" in last.lower():
            point = min(5, max(1, round(3 + 2 * shift + 2.5 * noise)))
            form = int(4 * _share(draw, last))
            label = LABELS[point - 1]
            return (f"{point}", f"{point}/5", f"{point}. {label}", label)[form]
        return ADVICE[int(len(ADVICE) * _share(last, user, draw))]


def _options(text: str) -> list[str]:
    """The letters of the last options in a text, which may quote others."""
    letters: list[str] = _OPTION.findall(text)
    if "A" not in letters:
        return []
    return letters[len(letters) - 1 - letters[::-1].index("A") :]


def _candidates() -> dict[str, list[str]]:
    """By the text of a question that asks for a list: what could be named."""
    folder = HOME / "resources/tasks"
    with (folder / "recommendations.csv").open(encoding="utf-8", newline="") as file:
        prompts = {row["item_id"]: row["prompt"] for row in csv.DictReader(file)}
    names: dict[str, list[str]] = {prompt: [] for prompt in prompts.values()}
    with (folder / "candidates.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names[prompts[row["item_id"]]].append(row["candidate"])
    return names


def _share(*parts: str) -> float:
    """A number between 0 and 1 that depends on the parts alone."""
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return (int.from_bytes(digest[:6]) + 0.5) / 2**48
