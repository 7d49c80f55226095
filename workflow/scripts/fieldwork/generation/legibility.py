"""Whether the answers of an arm can be read: counts them as they arrive, and stops where too few can.

Most answers of a study must be readable, and unreadable ones cost money too. The caller says what can be
read, because parsing is another wing. Refusals count as readable.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.ledger import Entry
from fieldwork.generation.providers.base import Reply
from fieldwork.generation.rows import GenerationArm, response_of
from fieldwork.generation.sending import Sender
from fieldwork.records.generation import Request, Response
from fieldwork.records.tasks import Item

logger = logging.getLogger(__name__)

# with fewer answers a share says too little to stop a job that is under way
ENOUGH_ANSWERS = 100
# answers of earlier runs that are read at a time
ANSWERS_AT_ONCE = 200
SAMPLES = 3
SAMPLE_LETTERS = 80

FindReason = Callable[[Response, Item], str | None]
"""Why an answer cannot be read; None where it can be, and where it is a refusal."""


class LegibilityRules(NamedTuple):
    """Which answers are unreadable, and how many may be.

    Attributes:
        find_reason: says why an answer cannot be read.
        max_share: share of the answers that may be unreadable, 0 to 1.
    """

    find_reason: FindReason
    max_share: float


class Legibility:
    """Counts the answers of one arm.

    Args:
        sender: reads the answers, and holds the ledger with the earlier ones.

    Attributes:
        n, n_unreadable: answers so far, and those that cannot be read.
    """

    def __init__(self, rules: LegibilityRules, arm: GenerationArm, sender: Sender) -> None:
        self._rules, self._arm, self._sender = rules, arm, sender
        self.n = self.n_unreadable = self._n_truncated = 0
        self._next_check = ENOUGH_ANSWERS
        self._earlier: dict[bytes, Item] = {}
        self._parts: Counter[str] = Counter()
        self._samples: list[str] = []

    def add(self, entry: Entry, reply: Reply, item: Item) -> None:
        """Count an answer, stored and read."""
        blank = Request(item.item_id, None, None, entry.replicate)
        self.count(response_of(blank, entry, reply, self._sender, self._arm), item)

    def count(self, response: Response, item: Item) -> None:
        """Count an answer by its row."""
        self.n += 1
        self._parts.update([f"outcome {response.outcome}", *response.defects])
        reason = self._rules.find_reason(response, item)
        if reason is None:
            return
        self.n_unreadable += 1
        self._n_truncated += response.outcome == "truncated"
        if len(self._samples) < SAMPLES:
            self._samples.append(self._sample(response.text, reason))

    def recall(self, items_by_key: Mapping[bytes, Item]) -> None:
        """Note answers of earlier runs, ledger key → item, to count if more answers are asked for."""
        self._earlier.update(items_by_key)

    def look_back(self) -> Iterator[None]:
        """Count the answers that were noted, some at each step so that calls under way can go on."""
        while self._earlier:
            keys = list(islice(self._earlier, ANSWERS_AT_ONCE))
            items = {key: self._earlier.pop(key) for key in keys}
            for entry in self._sender.ledger.entries(keys):
                self.add(entry, self._sender.provider.read(entry.raw), items[entry.key])
            yield

    def check(self) -> None:
        """Stop a job that is under way where too few answers can be read: at 100, 200, 400 and so on.

        Raises:
            StudyError: too few answers can be read.
        """
        if self.n < self._next_check:
            return
        self._refuse()
        while self._next_check <= self.n:
            # checked at every answer, chance alone would bring more and more jobs over the limit
            self._next_check *= 2

    def conclude(self) -> None:
        """Log what the answers lack, once all of them are counted.

        Raises:
            StudyError: too few answers can be read.
        """
        self._refuse()
        for part, meaning in _MEANINGS.items():
            if n := self._parts[part]:
                logger.warning("%s: %d of %d %s", self._arm_name(), n, self.n, meaning)

    def note(self) -> str:
        """How many answers cannot be read, in a few words; empty before any answer."""
        return f"{self.n_unreadable} unreadable" if self.n else ""

    def _refuse(self) -> None:
        if self.n_unreadable <= self._rules.max_share * self.n:
            return
        raise StudyError(
            f"{self._arm_name()}: {self.n_unreadable} of {self.n} answers cannot be read, but "
            f"generation.max_unreadable allows only {self._rules.max_share:.0%}, so the run stops; "
            f"examples: {'; '.join(self._samples)}; {self._way_out()}, or raise "
            f"generation.max_unreadable to accept such answers, then run again: every answer is kept"
        )

    def _arm_name(self) -> str:
        return f"{self._arm.model}, {self._arm.task}, {self._arm.condition}"

    def _way_out(self) -> str:
        setting = f"tasks.{self._arm.task}.max_tokens"
        if 2 * self._n_truncated >= self.n_unreadable:
            return (
                f"{self._n_truncated} of them are cut off at the limit of tokens: raise {setting} "
                f"({self._arm.max_tokens})"
            )
        return f"change the prompt, the model's settings or {setting} ({self._arm.max_tokens})"

    def _sample(self, text: str | None, reason: str) -> str:
        line = " ".join(self._sender.provider.mask(text or "").split())
        # an answer may hold control codes, which a terminal would obey
        sample = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
        if len(sample) > SAMPLE_LETTERS:
            sample = f"{sample[:SAMPLE_LETTERS]}…"
        return f"“{sample}” ({reason})"


class LegibilityOfTasks:
    """Counts of several tasks that are asked together; for the engine, like one.

    Args:
        counts: of each task, with its items. Ids of items are unique within a task alone, so the objects
            are what distinguishes them.
    """

    def __init__(self, counts: Sequence[tuple[Legibility, Sequence[Item]]]) -> None:
        self._items = [
            item for _, items in counts for item in items
        ]  # kept, so that no id is reused
        self._by_item = {id(item): count for count, items in counts for item in items}
        self._counts = [count for count, _ in counts]

    def add(self, entry: Entry, reply: Reply, item: Item) -> None:
        """Count an answer, stored and read."""
        self._by_item[id(item)].add(entry, reply, item)

    def recall(self, items_by_key: Mapping[bytes, Item]) -> None:
        """Note answers of earlier runs, ledger key → item."""
        for key, item in items_by_key.items():
            self._by_item[id(item)].recall({key: item})

    def look_back(self) -> Iterator[None]:
        """Count the answers that were noted, some at each step."""
        for count in self._counts:
            yield from count.look_back()

    def check(self) -> None:
        """Stop where too few answers of a task can be read; raises StudyError."""
        for count in self._counts:
            count.check()

    def note(self) -> str:
        """How many answers cannot be read, in a few words; empty before any answer."""
        if not any(count.n for count in self._counts):
            return ""
        return f"{sum(count.n_unreadable for count in self._counts)} unreadable"


_MEANINGS: Mapping[str, str] = {
    "outcome truncated": "answers are cut off at the limit of tokens (tasks.*.max_tokens)",
    "outcome empty": "answers are empty",
    "encoding": "replies hold bytes that are not UTF-8, shown as U+FFFD",
    "usage": "replies do not state their tokens, so their cost is unknown",
    "tokens": "replies state tokens that contradict each other, of which the dearer reading counts",
    "model": "replies do not name the model that answered, so another model would go unnoticed",
    "secret": "replies repeat a key or a password; it is masked in the ledger",
}
