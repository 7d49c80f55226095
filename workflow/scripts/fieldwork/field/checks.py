"""What is looked for in every answer of the field before it counts, and what is left out for it.

Owns the checks, their reasons and their counts. Promises that no answer is dropped: every one comes
back with the checks it failed, an excluded one with the first of them that excludes, and the counts
of exclusions add up. What belongs to other wings (is this a refusal?) is handed in.
"""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.field.language import is_other_language, language_of
from fieldwork.field.other_models import families_in, speakers
from fieldwork.field.pasted import Known, Prompt, known_prompts, place, words_of
from fieldwork.records.field import FieldAnswer, QualityCheck
from fieldwork.records.tasks import Item

ANY = "any"

LEAST_LIST_LETTERS = 8
"""Letters and digits of a list below which it cannot hold five names."""
LEAST_COPIED_WORDS = 40
"""Words from which on two equal texts are a copy. Five names rarely have as many, and five names two
people may well get alike; descriptions around them they do not (docs/field.md)."""
_PLACEHOLDERS = frozenset(
    [
        *("na", "n a", "none", "nil", "null", "nan", "nothing", "no answer", "no response"),
        *("not applicable", "idk", "i don t know", "skip", "skipped", "test", "testing", "asdf"),
        *("see above", "same as above", "did not work", "didn t work", "error"),
    ]
)
"""What people type where they have nothing to paste, in plain words."""


class Check(NamedTuple):
    """A check: why what fails it is left out, or kept, and which of the two is the default."""

    reason: str
    is_excluded: bool


CHECKS: Mapping[str, Check] = {
    "empty": Check("there is nothing to read", True),
    "too_short": Check("too little to be a model's answer to this prompt", True),
    "prompt_pasted": Check("the prompt was pasted back, and no answer with it", True),
    "other_prompt": Check("it answers another prompt", True),
    "other_model": Check("the text says that another model wrote it", True),
    "other_language": Check("options in another language would count as other options", True),
    "duplicate": Check("hardly any chat model writes so long a text twice: a copy", True),
    "prompt_repeated": Check("kept: the answer follows the prompt and can be read", False),
    "refusal": Check("kept: to decline is an answer, and counts as one that cannot be read", False),
}
"""In the order in which they exclude: an answer is counted under the first that it fails."""


def default_excluded() -> list[str]:
    """The checks that leave answers out where the config does not say."""
    return [name for name, check in CHECKS.items() if check.is_excluded]


def check_answers(
    answers: Sequence[FieldAnswer],
    items: Mapping[tuple[str, str], Item],
    *,
    excluded: Collection[str],
    is_refusal: Callable[[str], bool],
    labels: Mapping[str, str],
) -> list[FieldAnswer]:
    """The answers, in their order, with `flags` and `excluded_for` filled in.

    Args:
        items: the prompts by (task, item_id).
        excluded: names of checks that leave an answer out.
        is_refusal: whether a text declines to answer.
        labels: model name in the config -> what the model is called.

    Raises:
        StudyError: `excluded` names a check that there is none of.
    """
    unknown = sorted(set(excluded) - set(CHECKS))
    if unknown:
        raise StudyError(
            f"config: field.exclude names {unknown[0]!r}, which is no check; "
            f"the checks are {', '.join(CHECKS)}."
        )
    asked = {(answer.task, answer.item_id) for answer in answers}
    study = _Study(
        prompts=known_prompts({prompt: items[prompt] for prompt in sorted(asked)}),
        languages={prompt: language_of(items[prompt].prompt) for prompt in sorted(asked)},
        families={a.model: families_in(f"{a.model} {labels.get(a.model, '')}") for a in answers},
        copies=_copies(answers),
        is_refusal=is_refusal,
    )
    return [_flagged(answer, set(_failed(answer, study)), excluded) for answer in answers]


class _Study(NamedTuple):
    """What an answer is compared with."""

    prompts: Mapping[Prompt, Known]
    languages: Mapping[Prompt, str | None]
    families: Mapping[str, set[str]]
    copies: Collection[tuple[Prompt, str]]
    is_refusal: Callable[[str], bool]


def _failed(answer: FieldAnswer, study: _Study) -> Iterator[str]:
    """Names of the checks that the answer fails."""
    text = (answer.text or "").strip()
    if not text:
        yield "empty"
        return
    own = (answer.task, answer.item_id)
    placed = place(text, own, study.prompts)
    if placed.shows_own:
        is_alone = not _is_long_enough(placed.rest, study.prompts[own])
        yield "prompt_pasted" if is_alone else "prompt_repeated"
    elif not _is_long_enough(text, study.prompts[own]):
        yield "too_short"
    if placed.other is not None:
        yield "other_prompt"
    speaking = speakers(text)
    if speaking and not speaking & (study.families[answer.model] | _platform(answer)):
        yield "other_model"
    expected = study.languages[own]
    if expected and is_other_language(placed.rest if placed.shows_own else text, expected):
        yield "other_language"
    if (own, _plain(text)) in study.copies:
        yield "duplicate"
    if study.is_refusal(text):
        yield "refusal"


def _platform(answer: FieldAnswer) -> set[str]:
    return families_in(answer.platform) if answer.platform else set()


def _is_long_enough(text: str, prompt: Known) -> bool:
    """Whether a text could hold an answer: a letter for a choice, some words for a list."""
    words = words_of(text)
    if " ".join(words) in _PLACEHOLDERS:
        return False
    return sum(map(len, words)) >= (LEAST_LIST_LETTERS if prompt.is_list else 1)


def _plain(text: str) -> str:
    return " ".join(words_of(text))


def _copies(answers: Sequence[FieldAnswer]) -> set[tuple[Prompt, str]]:
    """Prompts and texts that two participants or more gave, where they are too long for chance."""
    givers: dict[tuple[Prompt, str], set[str]] = defaultdict(set)
    for answer in answers:
        words = words_of(answer.text or "")
        if len(words) >= LEAST_COPIED_WORDS:
            key = ((answer.task, answer.item_id), " ".join(words))
            givers[key].add(answer.participant_id)
    return {key for key, participants in givers.items() if len(participants) > 1}


def _flagged(
    answer: FieldAnswer, failed: Collection[str], excluded: Collection[str]
) -> FieldAnswer:
    flags = [name for name in CHECKS if name in failed]
    excluding = next((name for name in flags if name in excluded), None)
    return dataclasses.replace(answer, flags=flags, excluded_for=excluding)


def quality(answers: Sequence[FieldAnswer], *, excluded: Collection[str]) -> list[QualityCheck]:
    """Counts by model, prompt and check, then `any` for the answers that fail one or more.

    Over the checks of a prompt `n_excluded` adds up to that of `any`; `n_flagged` need not, as an
    answer may fail several. Empty where there are no answers.
    """
    prompts = sorted({(a.model, a.task, a.item_id) for a in answers})
    rows: list[QualityCheck] = []
    for prompt in prompts:
        given = [a for a in answers if (a.model, a.task, a.item_id) == prompt]
        flagged = Counter(flag for a in given for flag in a.flags)
        flagged[ANY] = sum(bool(a.flags) for a in given)
        left_out = Counter(a.excluded_for for a in given if a.excluded_for)
        left_out[ANY] = sum(left_out.values())
        rows.extend(
            QualityCheck(
                *prompt,
                check=check,
                is_excluding=bool(excluded) if check == ANY else check in excluded,
                n_answers=len(given),
                n_flagged=flagged[check],
                n_excluded=left_out[check],
                reason=CHECKS[check].reason
                if check != ANY
                else "answers that fail a check or more",
            )
            for check in (*CHECKS, ANY)
        )
    return rows
