"""One call answered by a loaded model: a list held to its form, a choice by likelihood, or free text.

A choice is scored as in lm-evaluation-harness' `multiple_choice` (`acc_norm`): each option's text, after
a space, follows the bare question, and its log-likelihood is divided by its length, here in bytes. s_i is
the log-likelihood of option i per byte, L the mean length of the options. The letter is drawn from
p_i ∝ exp(L · s_i / T): for options of one length the model's own probabilities of their texts, and at
T = 0 the option with the best s_i.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldwork.generation.chat.grammars import (
    CandidateLines,
    CandidatePaths,
    Choice,
    FreeText,
    Grammar,
    Lines,
    LineTokens,
    Path,
    Tokens,
    candidate_paths,
    line_tokens,
)
from fieldwork.generation.chat.sampling import Numbers, Sampler
from fieldwork.generation.chat.weights import (
    Alphabet,
    ChatWeights,
    ConversationError,
    Logits,
    PromptState,
    RawMessage,
)
from fieldwork.generation.providers.jsontext import well_formed

# answers of T = 0, which are the same for every seed
REPEATS = 64
# questions with options whose scores are kept: those of a context that comes again need no model
SCORES = 4096
# significant digits of probabilities in a reply
DIGITS = 9

Branches = dict[Path, Logits]


class OptionShare(NamedTuple):
    """An option, and the probability with which it is drawn."""

    option: str
    probability: float


class ChatAnswer(NamedTuple):
    """An answer as a reply states it.

    Attributes:
        finish_reason: `stop`, or `length` where the limit of tokens cut it.
        probabilities: of the options of a choice, or of the candidates to be named first; None where they
            are not known.
    """

    text: str
    finish_reason: str
    input: int
    cache_read: int
    output: int
    probabilities: list[OptionShare] | None = None


class _Draws(NamedTuple):
    """How the tokens of one call are drawn.

    Attributes:
        alphabet: the tokens that logits are of; None for all.
        stops: tokens that end the model's turn.
    """

    sampler: Sampler
    alphabet: Alphabet | None
    stops: list[int]

    def token(self, logits: Logits, choice: Choice) -> int:
        """The token that is drawn among a choice."""
        place = self.sampler.place(self.shares(logits, choice))
        return int(place if choice.tokens is None else choice.tokens[place])

    def shares(self, logits: Logits, choice: Choice) -> Numbers:
        """What each token of a choice is drawn with; the end of a list stands for the turn's end too."""
        if choice.tokens is None:
            return self.sampler.probabilities(logits)
        values = logits[self._columns(choice.tokens)].astype(np.float64)
        if choice.end_place is not None:
            ends = logits[self._columns(self.stops)].astype(np.float64)
            all_ends = np.append(ends, values[choice.end_place])
            values[choice.end_place] = np.logaddexp.reduce(all_ends)
        return self.sampler.probabilities(values)

    def _columns(self, tokens: Tokens) -> npt.NDArray[np.int64]:
        numbers = np.asarray(tokens, dtype=np.int64)
        return numbers if self.alphabet is None else np.searchsorted(self.alphabet, numbers)


class _Scores(NamedTuple):
    """The options of a question after a context.

    Attributes:
        values: L · s_i of each option, in nats.
        n_read, n_shared: tokens of the prompt and all options, and of the context's shared part.
    """

    values: Numbers
    n_read: int
    n_shared: int


class Responder:
    """Answers calls with one model.

    Everything it keeps only saves time: an answer depends on its call alone.
    """

    def __init__(self, weights: ChatWeights) -> None:
        self._weights = weights
        self._paths: dict[tuple[tuple[str, ...], int], CandidatePaths] = {}
        self._lines: LineTokens | None = None
        self._branches: tuple[PromptState | None, Branches] = (None, {})
        self._greedy: OrderedDict[str, ChatAnswer] = OrderedDict()
        self._scores: OrderedDict[bytes, _Scores] = OrderedDict()

    def answer(self, call: bytes) -> ChatAnswer:
        """Answer a call.

        Raises:
            ConversationError: the chat template or the window does not take it.
            StudyError: the model cannot be held to the form.
        """
        # halves of emoji, which JSON can carry and a tokenizer refuses
        settings = json.loads(well_formed(json.dumps(json.loads(call), ensure_ascii=False)))
        if settings["temperature"] != 0:
            return self._answer(settings, call)
        key = json.dumps({name: value for name, value in settings.items() if name != "seed"})
        if key not in self._greedy:
            self._greedy[key] = self._answer(settings, call)
            if len(self._greedy) > REPEATS:
                self._greedy.popitem(last=False)
        return self._greedy[key]

    def _answer(self, settings: dict[str, Any], call: bytes) -> ChatAnswer:
        context = tuple((role, text) for role, text in settings["context"])
        ids = self._weights.prompt_ids([*context, ("user", settings["prompt"])])
        temperature = 1.0 if settings["temperature"] is None else settings["temperature"]
        sampler = Sampler(call, temperature, settings.get("min_p", 0.0))
        if settings["form"] == "likelihood":
            return self._choose(context, ids, settings["options"], sampler)
        return self._write(context, ids, settings, sampler)

    # ---- lists and free text -------------------------------------------------------------------

    def _write(
        self,
        context: tuple[RawMessage, ...],
        ids: list[int],
        settings: dict[str, Any],
        sampler: Sampler,
    ) -> ChatAnswer:
        limit = settings["max_tokens"]
        self._require_window(len(ids) + limit)
        grammar, candidates = self._grammar(settings)
        run = grammar.next_run()
        stops = sorted(self._weights.stops)
        alphabet = candidates.alphabet(self._weights.stops) if candidates else None
        draws = _Draws(sampler, alphabet, stops)
        state = self._weights.state(context, ids, run, alphabet)
        branches = self._first_branches(state, candidates, alphabet) if candidates else {}
        tokens = self._generate(state, grammar, run, branches, draws, limit)
        shares = _first_shares(candidates, branches, draws) if candidates else None
        return ChatAnswer(
            self._weights.text(tokens[:limit]).rstrip("\n"),
            "stop" if grammar.is_done and len(tokens) <= limit else "length",
            state.n_tokens,
            state.n_shared,
            min(len(tokens), limit),
            shares,
        )

    def _grammar(self, settings: dict[str, Any]) -> tuple[Grammar, CandidatePaths | None]:
        if settings["form"] == "candidates":
            key = (tuple(settings["options"]), settings["length"])
            if key not in self._paths:
                self._paths[key] = candidate_paths(self._weights, *key)
            return CandidateLines(self._paths[key]), self._paths[key]
        if settings["form"] == "five_lines":
            if self._lines is None:
                weights = self._weights
                self._lines = line_tokens(weights.texts(), weights.stops, weights.special)
            heads = [f"{line}." for line in range(1, settings["length"] + 1)]
            pieces = [[token for token, _ in self._weights.pieces(head)] for head in heads]
            return Lines(self._lines, pieces), None
        return FreeText(self._weights.stops), None

    def _generate(
        self,
        state: PromptState,
        grammar: Grammar,
        run: list[int],
        branches: Branches,
        draws: _Draws,
        limit: int,
    ) -> list[int]:
        """The tokens of an answer; forced ones are read together with the one drawn before them."""
        follower, logits = self._weights.follower(state, draws.alphabet), state.logits
        tokens, unread_tokens, n_first = list(run), list[int](), len(run)
        while not grammar.is_done and len(tokens) < limit:
            if unread_tokens:
                branch = tuple(tokens[n_first:])
                if branch in branches:
                    logits = branches[branch]
                else:
                    logits, unread_tokens = follower.read(unread_tokens), []
            token = draws.token(logits, grammar.choice())
            grammar.accept(token)
            unread_tokens += [token, *(run := grammar.next_run())]
            tokens += [token, *run]
        return tokens

    def _first_branches(
        self, state: PromptState, candidates: CandidatePaths, alphabet: Alphabet | None
    ) -> Branches:
        """Logits wherever the first candidate leaves a choice; the same for every draw of a prompt."""
        known_state, branches = self._branches
        if known_state is not state:
            rows = _rows_with_choices(list(candidates.paths))
            tails = self._weights.tails(state, rows, alphabet)
            branches = {(): state.logits} | {
                row[: i + 1]: tail[i]
                for row, tail in zip(rows, tails, strict=True)
                for i in range(len(row))
            }
            self._branches = (state, branches)
        return branches

    # ---- choices -------------------------------------------------------------------------------

    def _choose(
        self,
        context: tuple[RawMessage, ...],
        ids: list[int],
        options: Sequence[str],
        sampler: Sampler,
    ) -> ChatAnswer:
        # a digest: the ids of long prompts would fill the memory
        key = hashlib.sha256(json.dumps([ids, options]).encode()).digest()
        if key not in self._scores:
            self._scores[key] = self._score(context, ids, options)
            if len(self._scores) > SCORES:
                self._scores.popitem(last=False)
        scores = self._scores[key]
        shares = sampler.probabilities(scores.values)
        return ChatAnswer(
            ascii_uppercase[sampler.place(shares)],
            "stop",
            scores.n_read,
            scores.n_shared,
            0,
            _rounded_shares(ascii_uppercase[: len(options)], shares),
        )

    def _score(
        self, context: tuple[RawMessage, ...], ids: list[int], options: Sequence[str]
    ) -> _Scores:
        rows = [[token for token, _ in self._weights.pieces(f" {text}")] for text in options]
        self._require_window(len(ids) + max(len(row) for row in rows))
        state = self._weights.state(context, ids)
        tails = self._weights.tails(state, rows)
        sums = [_log_likelihood(state.logits, *pair) for pair in zip(tails, rows, strict=True)]
        lengths = [len(option.encode()) for option in options]
        rates = np.array(sums) / np.array(lengths)
        n_read = state.n_tokens + sum(len(row) for row in rows)
        return _Scores(rates * np.mean(lengths), n_read, state.n_shared)

    def _require_window(self, n_tokens: int) -> None:
        if n_tokens > self._weights.window:
            # without the number, so that equal failures are counted together
            raise ConversationError(
                f"the context, the question and the answer's max_tokens do not fit the model's window of "
                f"{self._weights.window} tokens; lower conditions.*.token_budget or tasks.*.max_tokens"
            )


def _rows_with_choices(paths: Sequence[Path]) -> list[Path]:
    """The longest beginnings of paths after which several of them go on differently."""
    starts = {path[:i] for path in paths for i in range(1, len(path))}
    nexts = {s: {p[len(s)] for p in paths if p[: len(s)] == s} for s in starts}
    inner = sorted(start for start in starts if len(nexts[start]) > 1)
    return [s for s in inner if not any(o != s and o[: len(s)] == s for o in inner)]


def _first_shares(
    candidates: CandidatePaths, branches: Branches, draws: _Draws
) -> list[OptionShare]:
    """The probability of each candidate to be the first that is named."""
    shares: dict[Path, float] = {}

    def walk(start: Path, paths: list[Path], share: float) -> None:
        if len(paths) == 1:
            shares[paths[0]] = share
            return
        tokens = sorted({path[len(start)] for path in paths})
        if len(tokens) == 1:
            walk((*start, tokens[0]), paths, share)
        else:
            # of a list of one line the first item is the last
            ends = {p[-1] for p in paths if len(p) == len(start) + 1 and len(candidates.heads) == 1}
            choice = Choice(tokens, tokens.index(ends.pop()) if ends else None)
            parts = draws.shares(branches[start], choice)
            for token, part in zip(tokens, parts, strict=True):
                rest = [path for path in paths if path[len(start)] == token]
                walk((*start, token), rest, share * float(part))

    walk((), list(candidates.paths), 1.0)
    names = list(candidates.paths.values())
    return _rounded_shares(names, [shares[path] for path in candidates.paths])


def _rounded_shares(options: Sequence[str], shares: Sequence[Any] | Numbers) -> list[OptionShare]:
    return [
        OptionShare(option, float(f"{share:.{DIGITS}g}"))
        for option, share in zip(options, shares, strict=True)
    ]


def _log_likelihood(first: Logits, tail: Logits, row: Sequence[int]) -> float:
    """Σ log p of the tokens of an option after its prompt."""
    logits = np.concatenate([first[None], tail[:-1]]).astype(np.float64)
    peaks = logits.max(axis=1)
    log_sums = peaks + np.log(np.exp(logits - peaks[:, None]).sum(axis=1))
    return float((logits[np.arange(len(row)), row] - log_sums).sum())
