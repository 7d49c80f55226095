"""What is looked for in every answer of the field before it counts, and what is left out for it.

Owns the checks, their reasons and their counts. Promises that no answer is dropped: every one comes
back with the checks it failed, an excluded one with the first of them that excludes, and the counts
of exclusions add up. What belongs to other wings (is this a refusal?) is handed in.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.participants import FieldAnswer, QualityCheck
from fieldwork.records import Item

ANY = "any"


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
    "duplicate": Check("no model writes so long a text twice: one participant's is a copy", True),
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
    checked: list[FieldAnswer] = []
    for answer in answers:
        text = (answer.text or "").strip()
        failed = {"empty"} if not text else {"refusal"} if is_refusal(text) else set[str]()
        checked.append(_flagged(answer, failed, excluded))
    return checked


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
