"""The checks of every answer of the field, and which of them exclude an answer.

Owns the checks, their reasons and their counts. Promises that no answer is dropped: each one comes back
with the checks it failed, an excluded one with the first check that excludes it, and the counts of
exclusions add up. What belongs to other wings (is this a refusal?) is an argument.
"""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.field.language import is_other_language, language_of
from fieldwork.field.other_models import families_in, speakers
from fieldwork.field.pasted import PromptKey, PromptWords, match_prompts, words_by_prompt, words_of
from fieldwork.records.field import FieldAnswer, QualityCheck
from fieldwork.records.tasks import Item

ANY = "any"

LEAST_LIST_LETTERS = 8
"""Letters and digits of a list below which it cannot hold five names."""
LEAST_COPIED_WORDS = 40
"""Words from which on two equal texts are a copy. Two people may well get the same five names, but not
the same descriptions of them, and five names alone rarely have as many words (docs/field.md)."""
_PLACEHOLDERS = frozenset(
    [
        *("na", "n a", "none", "nil", "null", "nan", "nothing", "no answer", "no response"),
        *("not applicable", "idk", "i don t know", "skip", "skipped", "test", "testing", "asdf"),
        *("see above", "same as above", "did not work", "didn t work", "error"),
    ]
)
"""What people type where they have nothing to paste, in plain words."""


FieldAnswerKey = tuple[str, str, str, str, int]
"""Participant, model, task, item and replicate."""


class Check(NamedTuple):
    """A check: why an answer that fails it is excluded or kept, and which of the two is the default."""

    reason: str
    is_excluded: bool


CHECKS: Mapping[str, Check] = {
    "empty": Check("the answer is empty", True),
    "too_short": Check("the text is too short to answer this prompt", True),
    "prompt_pasted": Check("the text is the prompt itself, without an answer", True),
    "other_prompt": Check("the text answers another prompt", True),
    "other_model": Check("the text says that another model wrote it", True),
    "other_language": Check(
        "in another language than the prompt, so its options would not match", True
    ),
    "duplicate": Check("another participant gave the same long text, so one is a copy", True),
    "prompt_repeated": Check("kept: the text repeats the prompt, and an answer follows it", False),
    "same_text": Check(
        "kept: the participant gave this very text to the prompt before, or a file holds it twice",
        False,
    ),
    "refusal": Check("kept: a refusal is an answer, and counts as one that cannot be read", False),
}
"""In the order in which they exclude: an answer is counted under the first that it fails."""


def excluding_checks_of(field: Mapping[str, Any]) -> list[str]:
    """The checks that leave answers out: those of `field.exclude`, or the default ones."""
    names: list[str] | None = field["exclude"]
    return default_excluded() if names is None else names


def default_excluded() -> list[str]:
    """The checks that leave answers out where the config does not say."""
    return [name for name, check in CHECKS.items() if check.is_excluded]


def check_answers(
    answers: Sequence[FieldAnswer],
    items: Mapping[tuple[str, str], Item],
    *,
    excluding_checks: Collection[str],
    is_refusal: Callable[[str], bool],
    labels: Mapping[str, str],
) -> list[FieldAnswer]:
    """The answers, in their order, with `flags` and `excluded_for` filled in.

    Args:
        items: the prompts by (task, item_id).
        excluding_checks: names of checks that leave an answer out.
        is_refusal: whether a text declines to answer.
        labels: model name in the config -> what the model is called.

    Raises:
        StudyError: `excluding_checks` has a name that is not a check's.
    """
    unknown_checks = sorted(set(excluding_checks) - set(CHECKS))
    if unknown_checks:
        raise StudyError(
            f"config: field.exclude names {unknown_checks[0]!r}, which is not a check; "
            f"choose from {', '.join(CHECKS)}"
        )
    prompt_keys = {(answer.task, answer.item_id) for answer in answers}
    reference = _Reference(
        prompts=words_by_prompt({prompt: items[prompt] for prompt in sorted(prompt_keys)}),
        languages={prompt: language_of(items[prompt].prompt) for prompt in sorted(prompt_keys)},
        families={a.model: families_in(f"{a.model} {labels.get(a.model, '')}") for a in answers},
        copied_texts=_copied_texts(answers),
        texts_again=_texts_again(answers),
        is_refusal=is_refusal,
    )
    checked_answers = []
    for answer in answers:
        failed_checks = set(_failed_checks(answer, reference))
        flags = [name for name in CHECKS if name in failed_checks]
        excluding_check = next((name for name in flags if name in excluding_checks), None)
        checked_answers.append(
            dataclasses.replace(answer, flags=flags, excluded_for=excluding_check)
        )
    return checked_answers


class _Reference(NamedTuple):
    prompts: Mapping[PromptKey, PromptWords]
    languages: Mapping[PromptKey, str | None]
    families: Mapping[str, set[str]]
    copied_texts: Collection[tuple[PromptKey, str]]
    texts_again: Collection[FieldAnswerKey]
    is_refusal: Callable[[str], bool]


def _failed_checks(answer: FieldAnswer, reference: _Reference) -> Iterator[str]:
    text = (answer.text or "").strip()
    if not text:
        yield "empty"
        return
    own_prompt = (answer.task, answer.item_id)
    match = match_prompts(text, own_prompt, reference.prompts)
    if match.shows_own_prompt:
        is_prompt_only = not _is_long_enough(match.rest, reference.prompts[own_prompt])
        yield "prompt_pasted" if is_prompt_only else "prompt_repeated"
    elif not _is_long_enough(text, reference.prompts[own_prompt]):
        yield "too_short"
    if match.other_prompt is not None:
        yield "other_prompt"
    own_families = reference.families[answer.model] | families_in(answer.platform or "")
    speaker_families = speakers(text)
    if speaker_families and not speaker_families & own_families:
        yield "other_model"
    prompt_language = reference.languages[own_prompt]
    if prompt_language and is_other_language(
        match.rest if match.shows_own_prompt else text, prompt_language
    ):
        yield "other_language"
    if (own_prompt, " ".join(words_of(text))) in reference.copied_texts:
        yield "duplicate"
    if reference.prompts[own_prompt].is_list and _place(answer) in reference.texts_again:
        yield "same_text"
    if reference.is_refusal(text):
        yield "refusal"


def _is_long_enough(text: str, prompt: PromptWords) -> bool:
    """Whether a text could hold an answer: a letter for a choice, some words for a list."""
    words = words_of(text)
    if " ".join(words) in _PLACEHOLDERS:
        return False
    return sum(map(len, words)) >= (LEAST_LIST_LETTERS if prompt.is_list else 1)


def _place(answer: FieldAnswer) -> FieldAnswerKey:
    return answer.participant_id, answer.model, answer.task, answer.item_id, answer.replicate


def _texts_again(answers: Sequence[FieldAnswer]) -> set[FieldAnswerKey]:
    """The answers whose text their participant gave to the same prompt of the same model before."""
    texts: set[tuple[str, str, str, str, str]] = set()
    places: set[FieldAnswerKey] = set()
    for answer in sorted(answers, key=_place):
        text = " ".join(words_of(answer.text or ""))
        key = (*_place(answer)[:4], text)
        if text and key in texts:
            places.add(_place(answer))
        texts.add(key)
    return places


def _copied_texts(answers: Sequence[FieldAnswer]) -> set[tuple[PromptKey, str]]:
    """Prompts and texts that two participants or more gave, where they are too long for chance."""
    participants_by_text: dict[tuple[PromptKey, str], set[str]] = defaultdict(set)
    for answer in answers:
        words = words_of(answer.text or "")
        if len(words) >= LEAST_COPIED_WORDS:
            key = ((answer.task, answer.item_id), " ".join(words))
            participants_by_text[key].add(answer.participant_id)
    return {key for key, participants in participants_by_text.items() if len(participants) > 1}


def count_quality(
    answers: Sequence[FieldAnswer], *, excluding_checks: Collection[str]
) -> list[QualityCheck]:
    """Counts by model, prompt and check, then `any` for the answers that fail one or more.

    Over the checks of a prompt `n_excluded` adds up to that of `any`; `n_flagged` need not, as an
    answer may fail several. Empty where there are no answers.
    """
    prompts = sorted({(a.model, a.task, a.item_id) for a in answers})
    reasons = {name: check.reason for name, check in CHECKS.items()}
    reasons[ANY] = "answers that fail at least one check"
    rows: list[QualityCheck] = []
    for prompt in prompts:
        prompt_answers = [a for a in answers if (a.model, a.task, a.item_id) == prompt]
        n_flagged_by_check = Counter(flag for a in prompt_answers for flag in a.flags)
        n_flagged_by_check[ANY] = sum(bool(a.flags) for a in prompt_answers)
        n_excluded_by_check = Counter(a.excluded_for for a in prompt_answers if a.excluded_for)
        n_excluded_by_check[ANY] = sum(n_excluded_by_check.values())
        rows.extend(
            QualityCheck(
                *prompt,
                check=check,
                is_excluding=bool(excluding_checks) if check == ANY else check in excluding_checks,
                n_answers=len(prompt_answers),
                n_flagged=n_flagged_by_check[check],
                n_excluded=n_excluded_by_check[check],
                reason=reason,
            )
            for check, reason in reasons.items()
        )
    return rows
