"""Calls answered by a loaded model: lists held to their form, choices by likelihood, or free text.

A choice is scored as in lm-evaluation-harness' `multiple_choice` (`acc_norm`): each option's text, after
a space, follows the bare question, and its log-likelihood is divided by its bytes: s_i. L is the mean
length of the options. The letter is drawn from p_i ∝ exp(L · s_i / T): for options of one length the
model's own probabilities of their texts, and at T = 0 the option with the best s_i.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
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
from fieldwork.generation.chat.passes import Alphabet, Branch, Logits, Read, Reader, Steps
from fieldwork.generation.chat.sampling import Numbers, Sampler
from fieldwork.generation.chat.tokens import ChatTokens, ConversationError
from fieldwork.generation.chat.transformer import Transformer
from fieldwork.generation.providers.jsontext import well_formed
from fieldwork.generation.providers.letters import letter_of

# keys and values of questions and answers that are under way; a single answer may need more
BYTES_UNDER_WAY = 512 * 2**20
# questions with options whose scores are kept: those of a context that comes again need no model
SCORES = 4096
# significant digits of probabilities in a reply
DIGITS = 9


class OptionShare(NamedTuple):
    """An option, and the probability with which it is drawn."""

    option: str
    probability: float


class ChatAnswer(NamedTuple):
    """An answer as a reply states it.

    Attributes:
        finish_reason: `stop`, or `length` where the limit of tokens cut it.
        probabilities: of a choice's options, of an answer's first letters, or of the first candidate.
    """

    text: str
    finish_reason: str
    input: int
    cache_read: int
    output: int
    probabilities: list[OptionShare] | None = None


Result = ChatAnswer | ConversationError
"""What becomes of a call; the error is for the call alone."""


class _NumberedCall(NamedTuple):
    """A call, by the number that its reply goes by.

    Attributes:
        body: its exact bytes, which seed its draws.
    """

    number: int
    body: bytes
    temperature: float
    min_p: float

    def sampler(self) -> Sampler:
        return Sampler(self.body, self.temperature, self.min_p)


@dataclass(eq=False)
class _Question:
    """Calls that differ in their draws alone, and share `settings`.

    Attributes:
        context_ids: the tokens that all questions after the context begin with.
        ids: those of this question, behind them.
        n_shared, n_each: most tokens of the question with all its options, and of each of its answers.
    """

    key: str
    settings: Mapping[str, Any]
    context_ids: list[int]
    ids: list[int]
    n_shared: int
    n_each: int
    calls: list[_NumberedCall] = field(default_factory=list)

    @property
    def n_tokens(self) -> int:
        """Tokens that it and its answers occupy, at most."""
        return self.n_shared + self.n_each * len(self.calls)

    @cached_property
    def digest(self) -> bytes:
        """By which its scores are kept: the ids of long prompts would fill the memory."""
        parts = [self.context_ids, self.ids, self.settings.get("options")]
        return hashlib.sha256(json.dumps(parts).encode()).digest()


class _Draws(NamedTuple):
    """How the tokens of one call are drawn.

    Attributes:
        alphabet: the tokens that logits are of; None for all.
        stops: tokens that end the model's turn.
    """

    sampler: Sampler
    alphabet: npt.NDArray[np.int64] | None
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


class _Draft:
    """One answer as it grows; its `unread_tokens` are written, and not read by the model yet."""

    def __init__(self, grammar: Grammar, draws: _Draws, limit: int) -> None:
        self._grammar, self._draws, self._limit = grammar, draws, limit
        self.tokens = grammar.next_run()
        self._n_first = len(self.tokens)
        self.unread_tokens: list[int] = []

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to write."""
        return self._grammar.is_done or len(self.tokens) >= self._limit

    @property
    def finish_reason(self) -> str:
        is_whole = self._grammar.is_done and len(self.tokens) <= self._limit
        return "stop" if is_whole else "length"

    def draw(self, logits: Logits) -> None:
        """Write a token, and the forced ones behind it, which are read together with it."""
        token = self._draws.token(logits, self._grammar.choice())
        self._grammar.accept(token)
        new_tokens = [token, *self._grammar.next_run()]
        self.tokens += new_tokens
        self.unread_tokens += new_tokens

    def draw_known(self, logits_by_path: Mapping[Path, Logits]) -> None:
        """Draw as far as the logits are logits_by_path; by what was drawn so far."""
        while not self.is_done:
            logits = logits_by_path.get(tuple(self.tokens[self._n_first :]))
            if logits is None:
                return
            self.draw(logits)


class _Form(NamedTuple):
    """What the answers to a question are held to."""

    new_grammar: Callable[[], Grammar]
    candidates: CandidatePaths | None = None
    alphabet: Alphabet | None = None


class Responder:
    """Answers calls with one model, many at a time.

    What it keeps only saves time: an answer depends on its call alone.
    """

    def __init__(self, transformer: Transformer, tokens: ChatTokens) -> None:
        self._window, self._tokens = transformer.shape.window, tokens
        self._most_under_way = BYTES_UNDER_WAY // transformer.shape.bytes_per_token
        self._reader = Reader(transformer)
        self._questions: OrderedDict[str, _Question] = OrderedDict()
        self._n_under_way = 0
        self._results: list[tuple[int, Result]] = []
        self._paths: dict[tuple[tuple[str, ...], int], CandidatePaths] = {}
        self._lines: LineTokens | None = None
        self._letter_tokens: dict[str, list[int]] | None = None
        self._scores: OrderedDict[bytes, Numbers] = OrderedDict()

    @property
    def is_idle(self) -> bool:
        """Whether no call is left."""
        return not (self._questions or self._reader.n_tasks or self._results)

    def add(self, number: int, body: bytes) -> None:
        """Take a call; `work` gives its answer, under this number.

        Raises:
            StudyError: the model cannot be held to the form.
        """
        # halves of emoji, which JSON can carry and a tokenizer refuses
        settings = json.loads(well_formed(json.dumps(json.loads(body), ensure_ascii=False)))
        temperature, _ = settings.pop("temperature"), settings.pop("seed")
        call = _NumberedCall(
            number, body, 1.0 if temperature is None else temperature, settings.get("min_p", 0.0)
        )
        key = json.dumps(settings)
        if key not in self._questions:
            try:
                self._questions[key] = self._question(key, settings)
            except ConversationError as error:
                self._results.append((number, error))
                return
        self._questions[key].calls.append(call)

    def work(self) -> list[tuple[int, Result]]:
        """Go on by one pass; the answers that it finished."""
        self._begin_questions()
        self._reader.step()
        results, self._results = self._results, []
        return results

    # ---- questions -----------------------------------------------------------------------------

    def _question(self, key: str, settings: Mapping[str, Any]) -> _Question:
        """A question without its calls.

        Raises:
            ConversationError: the chat template or the window does not take it.
        """
        context = tuple((role, text) for role, text in settings["context"])
        ids = self._tokens.prompt_ids([*context, ("user", settings["prompt"])])
        beginning = self._tokens.shared_ids(context)
        if ids[: len(beginning)] != beginning:
            beginning = []
        n_each, rows = 0, list[list[int]]()
        if settings["form"] == "likelihood":
            rows = self._option_rows(settings)
        else:
            n_each = settings["max_tokens"]
        if len(ids) + max([n_each, *map(len, rows)]) > self._window:
            # without the number, so that equal failures are counted together
            raise ConversationError(
                f"the context, the question and the answer's max_tokens do not fit the model's window of "
                f"{self._window} tokens; lower conditions.*.token_budget or tasks.*.max_tokens"
            )
        if settings["form"] == "candidates":
            paths = self._candidate_paths(settings)
            rows = [list(row) for row in _rows_with_choices(list(paths.paths))]
            longest = max(map(len, paths.paths), default=0) + max(map(len, paths.heads), default=0)
            n_each = min(n_each, longest * len(paths.heads))
        rest = ids[len(beginning) :]
        n_shared = len(rest) + sum(map(len, rows))
        return _Question(key, settings, beginning, rest, n_shared, n_each)

    def _begin_questions(self) -> None:
        while self._questions:
            question = next(iter(self._questions.values()))
            if question.digest in self._scores:
                del self._questions[question.key]
                self._answer_choices(question, self._scores[question.digest])
                continue
            n_free = self._most_under_way - self._n_under_way
            if self._n_under_way and question.n_shared + question.n_each > n_free:
                return
            n_calls = max((n_free - question.n_shared) // max(question.n_each, 1), 1)
            later_calls = question.calls[n_calls:] if question.n_each else []
            del self._questions[question.key]
            if later_calls:
                del question.calls[n_calls:]
                self._questions[question.key] = replace(question, calls=later_calls)
            self._n_under_way += question.n_tokens
            self._reader.begin(question.context_ids, partial(self._answer, question))

    def _answer(self, question: _Question, branch: Branch) -> Steps:
        if question.settings["form"] == "likelihood":
            yield from self._choose(question, branch)
        else:
            yield from self._write(question, branch)
        self._n_under_way -= question.n_tokens

    # ---- lists and free text -------------------------------------------------------------------

    def _write(self, question: _Question, branch: Branch) -> Steps:
        form = self._form(question.settings)
        run, alphabet = form.new_grammar().next_run(), form.alphabet
        (opening,) = yield [
            Read("prompt", branch, [*question.ids, *run], n_logits=1, alphabet=alphabet)
        ]
        logits_by_path: dict[Path, Logits] = {(): opening.logits[0]}
        if form.candidates is not None:
            rows = _rows_with_choices(list(form.candidates.paths))
            reads = [
                Read("option", opening.branch, row, n_logits=len(row), alphabet=alphabet)
                for row in rows
            ]
            for row, outcome in zip(rows, (yield reads), strict=True):
                logits_by_path |= {row[: i + 1]: logits for i, logits in enumerate(outcome.logits)}
        drafts = self._drafts(question, form)
        branches = dict.fromkeys(drafts, opening.branch)
        while True:
            for draft in drafts:
                draft.draw_known(logits_by_path)
            growing = [draft for draft in drafts if not draft.is_done]
            if not growing:
                break
            outcomes = yield [
                Read("answer", branches[d], d.unread_tokens, n_logits=1, alphabet=alphabet)
                for d in growing
            ]
            for draft, outcome in zip(growing, outcomes, strict=True):
                branches[draft], draft.unread_tokens = outcome.branch, []
                draft.draw(outcome.logits[0])
        self._answer_texts(question, form, drafts, logits_by_path)

    def _form(self, settings: Mapping[str, Any]) -> _Form:
        if settings["form"] == "candidates":
            paths = self._candidate_paths(settings)
            return _Form(partial(CandidateLines, paths), paths, paths.alphabet(self._tokens.stops))
        if settings["form"] == "five_lines":
            if self._lines is None:
                tokens = self._tokens
                self._lines = line_tokens(tokens.texts(), tokens.stops, tokens.special)
            heads = [f"{line}." for line in range(1, settings["length"] + 1)]
            pieces = [[token for token, _ in self._tokens.pieces(head)] for head in heads]
            return _Form(partial(Lines, self._lines, pieces))
        return _Form(partial(FreeText, self._tokens.stops))

    def _candidate_paths(self, settings: Mapping[str, Any]) -> CandidatePaths:
        key = (tuple(settings["options"]), settings["length"])
        if key not in self._paths:
            self._paths[key] = candidate_paths(self._tokens, *key)
        return self._paths[key]

    def _drafts(self, question: _Question, form: _Form) -> dict[_Draft, list[_NumberedCall]]:
        """An answer for each call, and one for all whose temperature is 0."""
        limit = question.settings["max_tokens"]
        greedy = [call for call in question.calls if call.temperature == 0]
        shares = [[call] for call in question.calls if call.temperature != 0]
        return {
            _Draft(form.new_grammar(), self._draws(form, calls[0]), limit): calls
            for calls in [*shares, *([greedy] if greedy else [])]
        }

    def _draws(self, form: _Form, call: _NumberedCall) -> _Draws:
        alphabet = None if form.alphabet is None else np.asarray(form.alphabet, dtype=np.int64)
        return _Draws(call.sampler(), alphabet, sorted(self._tokens.stops))

    def _answer_texts(
        self,
        question: _Question,
        form: _Form,
        drafts: Mapping[_Draft, list[_NumberedCall]],
        logits_by_path: Mapping[Path, Logits],
    ) -> None:
        limit = question.settings["max_tokens"]
        n_context = len(question.context_ids)
        for draft, calls in drafts.items():
            shares = None
            if form.candidates is not None:
                shares = _first_shares(form.candidates, logits_by_path, self._draws(form, calls[0]))
            elif "letters" in question.settings:
                shares = self._letter_shares(
                    question.settings["letters"], logits_by_path[()], calls[0]
                )
            answer = ChatAnswer(
                self._tokens.text(draft.tokens[:limit]).rstrip("\n"),
                draft.finish_reason,
                n_context + len(question.ids),
                n_context,
                min(len(draft.tokens), limit),
                shares,
            )
            self._results += [(call.number, answer) for call in calls]

    def _letter_shares(self, n: int, logits: Logits, call: _NumberedCall) -> list[OptionShare]:
        """The probability of each of n letters as an answer's first token, whatever stands around it."""
        if self._letter_tokens is None:
            self._letter_tokens = {letter: list[int]() for letter in ascii_uppercase}
            for token, text in enumerate(self._tokens.texts()):
                if (letter := letter_of(text)) is not None:
                    self._letter_tokens[letter].append(token)
        shares, letters = call.sampler().probabilities(logits), ascii_uppercase[:n]
        return _rounded_shares(
            letters, [shares[self._letter_tokens[letter]].sum() for letter in letters]
        )

    # ---- choices -------------------------------------------------------------------------------

    def _option_rows(self, settings: Mapping[str, Any]) -> list[list[int]]:
        """The tokens of each option."""
        texts = [f" {option}" for option in settings["options"]]
        return [[token for token, _ in self._tokens.pieces(text)] for text in texts]

    def _choose(self, question: _Question, branch: Branch) -> Steps:
        rows = self._option_rows(question.settings)
        firsts = [row[0] for row in rows]
        (opening,) = yield [Read("prompt", branch, question.ids, targets=[firsts])]
        sums = list(opening.log_shares[0])
        longer = [place for place, row in enumerate(rows) if len(row) > 1]
        outcomes = yield [
            Read("option", opening.branch, rows[place][:-1], targets=[[t] for t in rows[place][1:]])
            for place in longer
        ]
        for place, outcome in zip(longer, outcomes, strict=True):
            sums[place] += sum(share for (share,) in outcome.log_shares)
        lengths = [len(option.encode()) for option in question.settings["options"]]
        scores = np.array(sums) / np.array(lengths) * np.mean(lengths)
        self._scores[question.digest] = scores
        if len(self._scores) > SCORES:
            self._scores.popitem(last=False)
        self._answer_choices(question, scores)

    def _answer_choices(self, question: _Question, scores: Numbers) -> None:
        options = question.settings["options"]
        n_context = len(question.context_ids)
        n_read = n_context + len(question.ids) + sum(map(len, self._option_rows(question.settings)))
        for call in question.calls:
            sampler = call.sampler()
            shares = sampler.probabilities(scores)
            answer = ChatAnswer(
                ascii_uppercase[sampler.place(shares)],
                "stop",
                n_read,
                n_context,
                0,
                _rounded_shares(ascii_uppercase[: len(options)], shares),
            )
            self._results.append((call.number, answer))


def _rows_with_choices(paths: Sequence[Path]) -> list[Path]:
    """The longest beginnings of paths after which several of them go on differently."""
    starts = {path[:i] for path in paths for i in range(1, len(path))}
    nexts = {s: {p[len(s)] for p in paths if p[: len(s)] == s} for s in starts}
    inner = sorted(start for start in starts if len(nexts[start]) > 1)
    return [s for s in inner if not any(o != s and o[: len(s)] == s for o in inner)]


def _first_shares(
    candidates: CandidatePaths, branches: Mapping[Path, Logits], draws: _Draws
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
