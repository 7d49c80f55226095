"""Whether the answers of an arm can be read: counted as they come, and refused where too few can.

A study of which most answers cannot be read is no result, and more of them cost more money. What a
reading is, the caller says: parsing is another wing. Refusals are answers.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.ledger import Entry
from fieldwork.generation.rows import Arm, response_of
from fieldwork.generation.sender import Sender
from fieldwork.records.generation import Request, Response
from fieldwork.records.tasks import Item

logger = logging.getLogger(__name__)

# answers, before which a share says too little to stop a job that is under way
ENOUGH = 100
# answers of earlier runs that are read in one go
AT_ONCE = 200
SAMPLES = 3
SAMPLE_LETTERS = 80

Unread = Callable[[Response, Item], str | None]
"""Why an answer cannot be read; None where it can, and where it is a refusal."""


class Rules(NamedTuple):
    """What counts as unreadable, and how much of it is borne.

    Attributes:
        most: share of the answers, 0 to 1.
    """

    unread: Unread
    most: float


class Legibility:
    """Counts the answers of one arm.

    Args:
        sender: reads them, and keeps the earlier ones.
    """

    def __init__(self, rules: Rules, arm: Arm, sender: Sender) -> None:
        self._rules, self._arm, self._sender = rules, arm, sender
        self._n = self._n_unread = self._n_cut = 0
        self._next_look = ENOUGH
        self._earlier: dict[bytes, Item] = {}
        self._parts: Counter[str] = Counter()
        self._samples: list[str] = []

    def add(self, entry: Entry, item: Item) -> None:
        """Count an answer."""
        blank = Request(item.item_id, None, None, entry.replicate)
        self.count(response_of(blank, entry, self._sender, self._arm), item)

    def count(self, response: Response, item: Item) -> None:
        """Count an answer of which there is a row."""
        self._n += 1
        self._parts.update([f"outcome {response.outcome}", *response.defects])
        reason = self._rules.unread(response, item)
        if reason is None:
            return
        self._n_unread += 1
        self._n_cut += response.outcome == "truncated"
        if len(self._samples) < SAMPLES:
            self._samples.append(self._sample(response.text, reason))

    def recall(self, answered: Mapping[bytes, Item]) -> None:
        """Remember answers of earlier runs, ledger key → item, to be counted if more are to be asked."""
        self._earlier.update(answered)

    def review(self, answered: Mapping[bytes, Item]) -> None:
        """Count answers that are in the ledger: key → item."""
        for entry in self._sender.ledger.entries([*answered]):
            self.add(entry, answered[entry.key])

    def look_back(self) -> Iterator[None]:
        """Count what was remembered, a part at each step, so that calls under way are not held up."""
        while self._earlier:
            keys = list(islice(self._earlier, AT_ONCE))
            self.review({key: self._earlier.pop(key) for key in keys})
            yield

    def check(self) -> None:
        """Stop a job that is under way: looked at once a hundred answers are known, then 200, 400 and on.

        Raises:
            StudyError: too few of them can be read.
        """
        if self._n < self._next_look:
            return
        self._refuse()
        while self._next_look <= self._n:
            # with a look at every answer, chance alone would take more and more shares over the limit
            self._next_look *= 2

    def conclude(self) -> None:
        """Say what the answers lack, once all of them are counted.

        Raises:
            StudyError: too few of them can be read.
        """
        self._refuse()
        for part, meaning in _MEANINGS.items():
            if n := self._parts[part]:
                logger.warning("%s: %d of %d %s", self._where(), n, self._n, meaning)

    def note(self) -> str:
        """How many cannot be read, in a few words; empty before any answer."""
        return f"{self._n_unread} unreadable" if self._n else ""

    def _refuse(self) -> None:
        if self._n_unread <= self._rules.most * self._n:
            return
        raise StudyError(
            f"{self._where()}: {self._n_unread} of {self._n} answers cannot be read, more than the "
            f"{self._rules.most:.0%} that generation.max_unreadable allows, so the job stops here; "
            f"examples: {'; '.join(self._samples)}; {self._way_out()}, or raise "
            f"generation.max_unreadable to accept such answers, then run again: every answer is kept"
        )

    def _where(self) -> str:
        return f"{self._arm.model}, {self._arm.task}, {self._arm.condition}"

    def _way_out(self) -> str:
        setting = f"tasks.{self._arm.task}.max_tokens"
        if 2 * self._n_cut >= self._n_unread:
            return (
                f"{self._n_cut} of them are cut off at the longest answer: raise {setting} "
                f"({self._arm.max_tokens})"
            )
        return f"change the prompt, the model's settings or {setting} ({self._arm.max_tokens})"

    def _sample(self, text: str | None, reason: str) -> str:
        line = " ".join(self._sender.provider.masked(text or "").split())
        # an answer may hold what a terminal would obey
        sample = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
        if len(sample) > SAMPLE_LETTERS:
            sample = f"{sample[:SAMPLE_LETTERS]}…"
        return f"“{sample}” ({reason})"


_MEANINGS: Mapping[str, str] = {
    "outcome truncated": "answers are cut off at the longest answer asked for (tasks.*.max_tokens)",
    "outcome empty": "answers are empty",
    "encoding": "replies hold bytes that are no text, shown as U+FFFD",
    "usage": "replies do not tell their tokens, so that their cost is not known",
    "model": "replies do not name the model that answered, so that another one would not be noticed",
    "secret": "replies repeat a key or a password, which is masked in what is kept",
}
