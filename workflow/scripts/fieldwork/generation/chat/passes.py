"""Which tokens are read in one pass: those that questions under way wait for, the same kind together.

A question is answered by a generator. It yields what it wants read, and gets what comes out. So the code
of an answer reads as if it were alone, and what stands beside it in a pass changes nothing in it.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from fieldwork.generation.chat.attention import Segment
from fieldwork.generation.chat.exact import IntegerRows
from fieldwork.generation.chat.slots import KeysAndValues
from fieldwork.generation.chat.transformer import Transformer

# tokens in a pass: enough for full speed, and few enough for a processor's cache
TOKENS_AT_ONCE = 256
# keys and values of contexts that are kept in case more questions follow
CONTEXT_BYTES = 256 * 2**20
# sets of tokens that answers are held to whose part of the last layer is in memory
ALPHABETS = 64

Logits = npt.NDArray[np.float32]
Alphabet = tuple[int, ...]

# segments of one kind are alike in length
Kind = Literal["context", "prompt", "option", "answer"]


class Branch(NamedTuple):
    """Tokens that were read after a context.

    Attributes:
        context: what all branches share.
        slots: where the keys and values of the tokens behind it are.
    """

    context: "Beginning"
    slots: tuple[int, ...] = ()


class Read(NamedTuple):
    """Tokens to read after a branch, and what is wanted of them.

    Attributes:
        targets: for each of the last tokens, tokens whose probability to come next is wanted.
        n_logits: last tokens after which logits are wanted.
        alphabet: the tokens that these are of; None for all.
    """

    kind: Kind
    branch: Branch
    ids: Sequence[int]
    targets: Sequence[Sequence[int]] = ()
    n_logits: int = 0
    alphabet: Alphabet | None = None


class Outcome(NamedTuple):
    """What came of a read.

    Attributes:
        branch: the branch with the new tokens.
        log_shares: natural logarithms of the probabilities of the targets.
        logits: after each token where they are wanted, of the tokens of the alphabet.
    """

    branch: Branch
    log_shares: tuple[list[float], ...] = ()
    logits: tuple[Logits, ...] = ()


Steps = Generator[list[Read], list[Outcome], None]
"""An answer that is under way: what it wants read next, for what came of it."""


@dataclass(eq=False)
class Beginning:
    """The tokens with which several questions begin, and their keys and values once these are read."""

    ids: tuple[int, ...]
    store: KeysAndValues
    n_read: int = 0
    n_users: int = 0
    waiting: list["_Task"] = field(default_factory=list)


@dataclass(eq=False)
class _Task:
    """An answer under way, and what it waits for.

    Attributes:
        slots: what it occupies until it ends.
    """

    steps: Steps
    context: Beginning
    outcomes: list[Outcome | None] = field(default_factory=list)
    n_missing: int = 0
    slots: list[int] = field(default_factory=list)


class _Wish(NamedTuple):
    """A read, and who waits for it.

    Attributes:
        task: None for a context, which is no answer.
        place: of the outcome among those that the task waits for.
        outcome: of the part that was read so far.
        n_read: tokens of this part.
    """

    read: Read
    task: _Task | None
    place: int
    outcome: Outcome
    n_read: int = 0

    def part(self) -> Read:
        """What the next pass reads: all that is left, or of a long read a part."""
        read, start = self.read, self.n_read
        stop = min(start + TOKENS_AT_ONCE, len(read.ids))
        n_plain = len(read.ids) - len(read.targets)
        n_later = len(read.ids) - stop
        return read._replace(
            branch=self.outcome.branch,
            ids=read.ids[start:stop],
            targets=read.targets[max(start - n_plain, 0) : max(stop - n_plain, 0)],
            n_logits=min(max(read.n_logits - n_later, 0), stop - start),
        )

    def advance(self, part: Read, outcome: Outcome) -> "_Wish":
        """What is wanted once the part is read."""
        total = Outcome(
            outcome.branch,
            self.outcome.log_shares + outcome.log_shares,
            self.outcome.logits + outcome.logits,
        )
        return self._replace(outcome=total, n_read=self.n_read + len(part.ids))

    @property
    def n_left(self) -> int:
        """Tokens of the next part."""
        return min(len(self.read.ids) - self.n_read, TOKENS_AT_ONCE)


class Reader:
    """Reads for all answers that are under way.

    Attributes:
        n_tasks: answers under way.
    """

    def __init__(self, transformer: Transformer) -> None:
        self._transformer = transformer
        self._wishes: dict[Kind, deque[_Wish]] = {
            "context": deque(),
            "prompt": deque(),
            "option": deque(),
            "answer": deque(),
        }
        self._contexts: OrderedDict[tuple[int, ...], Beginning] = OrderedDict()
        self._alphabets: OrderedDict[Alphabet, Tensor] = OrderedDict()
        self.n_tasks = 0

    def begin(self, context_ids: Sequence[int], answer: Callable[[Branch], Steps]) -> None:
        """Begin an answer after a context; it starts once the context is read."""
        context = self._context(tuple(context_ids))
        task = _Task(answer(Branch(context)), context)
        context.n_users += 1
        self.n_tasks += 1
        if context.n_read == len(context.ids):
            self._go_on(task, None)
        else:
            context.waiting.append(task)

    def step(self) -> None:
        """Read one pass: of the kind that waits for most tokens."""
        kind = max(self._wishes, key=lambda kind: sum(w.n_left for w in self._wishes[kind]))
        wishes = self._take(self._wishes[kind])
        if not wishes:
            return
        # those after one context share its keys
        wishes.sort(key=lambda wish: id(wish.read.branch.context))
        parts = [wish.part() for wish in wishes]
        slots = [self._slots_for(*pair) for pair in zip(wishes, parts, strict=True)]
        states = self._transformer.read(
            [_segment(*pair) for pair in zip(parts, slots, strict=True)]
        )
        outcomes = self._outcomes(parts, slots, states)
        for wish, part, own_slots, outcome in zip(wishes, parts, slots, outcomes, strict=True):
            later = wish.advance(part, outcome)
            if wish.task is None:
                self._keep_context(part.branch.context, own_slots)
            elif later.n_left:
                self._wishes[kind].appendleft(later)
            else:
                self._deliver(wish.task, wish.place, later.outcome)

    # ---- tasks -------------------------------------------------------------------------------------

    def _go_on(self, task: _Task, outcomes: list[Outcome] | None) -> None:
        try:
            reads = next(task.steps) if outcomes is None else task.steps.send(outcomes)
            while not reads:
                reads = task.steps.send([])
        except StopIteration:
            self._end(task)
            return
        task.outcomes, task.n_missing = [None] * len(reads), len(reads)
        for place, read in enumerate(reads):
            self._wishes[read.kind].append(_Wish(read, task, place, Outcome(read.branch)))

    def _end(self, task: _Task) -> None:
        self._transformer.slots.give_back(task.slots)
        self.n_tasks -= 1
        task.context.n_users -= 1
        self._forget_contexts()

    def _deliver(self, task: _Task, place: int, outcome: Outcome) -> None:
        task.outcomes[place] = outcome
        task.n_missing -= 1
        if not task.n_missing:
            self._go_on(task, [one for one in task.outcomes if one is not None])

    # ---- contexts ----------------------------------------------------------------------------------

    def _context(self, ids: tuple[int, ...]) -> Beginning:
        if ids in self._contexts:
            self._contexts.move_to_end(ids)
            return self._contexts[ids]
        context = Beginning(ids, self._transformer.new_context(len(ids)))
        self._contexts[ids] = context
        self._wish_for_context(context)
        return context

    def _wish_for_context(self, context: Beginning) -> None:
        """Have the next part of a context read, behind what was read of it."""
        part = context.ids[context.n_read : context.n_read + TOKENS_AT_ONCE]
        if part:
            branch = Branch(context)
            read = Read("context", branch, part)
            self._wishes["context"].append(_Wish(read, None, 0, Outcome(branch)))

    def _keep_context(self, context: Beginning, slots: list[int]) -> None:
        """Move what was read of a context to its own place, and let answers begin when it is whole."""
        span = slice(context.n_read, context.n_read + len(slots))
        context.store.copy(span.start, self._transformer.slots.room, slots)
        self._transformer.slots.give_back(slots)
        context.n_read = span.stop
        self._wish_for_context(context)
        if context.n_read == len(context.ids):
            tasks, context.waiting = context.waiting, []
            for task in tasks:
                self._go_on(task, None)

    def _forget_contexts(self) -> None:
        limit = CONTEXT_BYTES // self._transformer.shape.bytes_per_token
        n_kept = sum(len(ids) for ids in self._contexts)
        for ids in [ids for ids, one in self._contexts.items() if not one.n_users]:
            if n_kept <= limit:
                return
            n_kept -= len(ids)
            del self._contexts[ids]

    # ---- passes ------------------------------------------------------------------------------------

    @staticmethod
    def _take(wishes: deque[_Wish]) -> list[_Wish]:
        batch: list[_Wish] = []
        n_tokens = 0
        while wishes and (not batch or n_tokens + wishes[0].n_left <= TOKENS_AT_ONCE):
            n_tokens += wishes[0].n_left
            batch.append(wishes.popleft())
        return batch

    def _slots_for(self, wish: _Wish, part: Read) -> list[int]:
        slots = self._transformer.slots.take(len(part.ids))
        if wish.task is not None:
            wish.task.slots += slots
        return slots

    def _outcomes(
        self, reads: Sequence[Read], slots: Sequence[list[int]], states: IntegerRows
    ) -> list[Outcome]:
        ends = np.cumsum([len(read.ids) for read in reads]).tolist()
        shares = self._log_shares(reads, ends, states)
        logits = self._logits(reads, ends, states)
        return [
            Outcome(
                Branch(read.branch.context, (*read.branch.slots, *own_slots)),
                tuple(shares[place]),
                tuple(logits[place]),
            )
            for place, (read, own_slots) in enumerate(zip(reads, slots, strict=True))
        ]

    def _log_shares(
        self, reads: Sequence[Read], ends: Sequence[int], states: IntegerRows
    ) -> list[list[list[float]]]:
        rows = [
            end - len(read.targets) + i
            for read, end in zip(reads, ends, strict=True)
            for i in range(len(read.targets))
        ]
        targets = [tokens for read in reads for tokens in read.targets]
        all_shares = iter(self._transformer.log_shares(_rows_of(states, rows), targets))
        return [[next(all_shares) for _ in read.targets] for read in reads]

    def _logits(
        self, reads: Sequence[Read], ends: Sequence[int], states: IntegerRows
    ) -> list[list[Logits]]:
        by_alphabet: dict[Alphabet | None, list[int]] = {}
        for place, read in enumerate(reads):
            if read.n_logits:
                by_alphabet.setdefault(read.alphabet, []).append(place)
        logits: list[list[Logits]] = [[] for _ in reads]
        for alphabet, places in by_alphabet.items():
            owners = [place for place in places for _ in range(reads[place].n_logits)]
            rows = [
                ends[p] - reads[p].n_logits + i for p in places for i in range(reads[p].n_logits)
            ]
            values = self._transformer.logits(_rows_of(states, rows), self._tensor(alphabet))
            for owner, row in zip(owners, values.cpu().numpy(), strict=True):
                logits[owner].append(row)
        return logits

    def _tensor(self, alphabet: Alphabet | None) -> Tensor | None:
        if alphabet is None:
            return None
        if alphabet not in self._alphabets:
            self._alphabets[alphabet] = torch.tensor(alphabet)
            if len(self._alphabets) > ALPHABETS:
                self._alphabets.popitem(last=False)
        return self._alphabets[alphabet]


def _segment(part: Read, slots: Sequence[int]) -> Segment:
    context = part.branch.context
    return Segment(part.ids, context.store, context.n_read, part.branch.slots, slots)


def _rows_of(states: IntegerRows, rows: Sequence[int]) -> IntegerRows:
    return IntegerRows(states.integers[list(rows)], states.scale[list(rows)])
