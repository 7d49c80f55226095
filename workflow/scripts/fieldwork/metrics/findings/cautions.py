"""What makes the findings doubtful: warnings above the page, and limits at its end."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.families import is_control
from fieldwork.metrics.claims.table import SAME_ANSWERS
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import StudyOutline, arm_name, groups, task_name
from fieldwork.metrics.findings.replies import ReplyCounts, UnnamedReplies
from fieldwork.metrics.findings.verdicts import MEASURE_NAMES, claim_verdict
from fieldwork.metrics.findings.wording import count_phrase, join_words, number_text, percent
from fieldwork.records.claims import Claim
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import ListLength, VarianceShare

MANY = 0.2
"""Share of an arm's answers above which a warning says that they are worth nothing."""

LOSS_GAP = 0.05
"""Difference in the share of answers that are lost above which a warning says so."""

LENGTH_GAP = 0.02
"""Relative difference in the length of lists above which a warning says so: 0.1 of 5 options."""

MOST_NAMES = 5
"""Differences of controls that a warning names."""

MOST_ARMS = 30
"""Arms of which lost answers are listed one by one."""

_FORM_TABLE = "(accuracy, format\\_failure)"

REFUSALS_ARE_READ = (
    "Refusals are recognised by their words: rules find all of those in surveys, 95 % of those of unsafe "
    "requests and 86 % of those in chats; of what they count as a refusal, nothing in surveys, 2 % and "
    "17 % is something else "
    "([docs/parsing.md](../../docs/parsing.md#refusals-1))"
)
"""Recall and precision of the parser's refusals, measured on real answers."""


# ---- warnings ----------------------------------------------------------------------------------------


def warnings(study: StudyEvidence, replies: Sequence[ReplyCounts]) -> list[str]:
    """What must be read before any number, a sentence each; often none."""
    return [
        *_control_warning(study),
        *dict.fromkeys(_repeat_warnings(study)),
        *_loss_warnings(study, replies),
        *_length_warnings(study),
    ]


def control_tests(study: StudyEvidence) -> list[Claim]:
    """The tests of negative controls against the baseline that could have shown something."""
    return [
        claim
        for claim in study.claims
        if is_control(claim.family) and claim_verdict(claim).is_tested
    ]


def _control_warning(study: StudyEvidence) -> Iterator[str]:
    tests = control_tests(study)
    names = [
        f"{MEASURE_NAMES[claim.measure]} in {literal(claim.task)}"
        for claim in tests
        if claim.verdict == "differs"
    ]
    if names:
        yield (
            f"{_first([*dict.fromkeys(names)])}: mere repeats without a user differ too "
            f"({len(names):,} of {count_phrase(len(tests), 'test')} of repeats), so differences of this "
            "kind may be chance, or a model that changed meanwhile"
        )


def _first(names: Sequence[str]) -> str:
    rest = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return join_words([*names[:MOST_NAMES], *rest])


def _repeat_warnings(study: StudyEvidence) -> Iterator[str]:
    """Conditions whose answers are those of another one."""
    outline = study.outline
    for claim in study.claims:
        reason = claim.reason or ""
        if not reason.startswith(SAME_ANSWERS):
            continue
        other = reason.removeprefix(SAME_ANSWERS)
        words = (
            "nothing of a user stood before the questions, so every call is one "
            f"{outline.phrase(other)} and nothing is tested"
            if other == outline.baseline
            else f"every call is one of {outline.label(other)}, so that these are the same answers, "
            "shown twice and tested once"
        )
        yield f"{arm_name(claim, outline)}: {words}"


def _loss_warnings(study: StudyEvidence, replies: Sequence[ReplyCounts]) -> Iterator[str]:
    """Conditions of whose answers much is lost, or another share than of the baseline's."""
    outline = study.outline
    rows = study.in_order(replies)
    large_losses = {row: parts for row in rows if (parts := [*_large_losses(row)])}
    for row, parts in large_losses.items():
        yield (
            f"{arm_name(row, outline)}: of {count_phrase(row.n, 'answer')} {join_words(parts)}, so its "
            "numbers say more about how it was asked than about the model"
        )
    shares = [(row, row.share_lost) for row in rows if row not in large_losses]
    letters = {*_gaps(_form_failures(study), outline, LOSS_GAP)}
    gaps = [*_gaps(shares, outline, LOSS_GAP)]
    baseline_phrase = outline.phrase(outline.baseline)
    for place, listing in gaps:
        # unreadable letters fail the form too: one warning says both
        wrong = f"; they count as wrong {_FORM_TABLE}" if (place, listing) in letters else ""
        yield (
            f"{place}: the share of answers that are refused or cannot be read is not that "
            f"{baseline_phrase} ({listing}), so those that are left may be of another kind{wrong}"
        )
    for place, listing in sorted(letters.difference(gaps)):
        yield (
            f"{place}: the share of answers without a letter in the form that was asked for is not "
            f"that {baseline_phrase} ({listing}); these count as wrong {_FORM_TABLE}"
        )


def _form_failures(study: StudyEvidence) -> list[tuple[Estimate, float]]:
    """Shares of answers whose letter does not stand in the form that was asked for."""
    outline = study.outline
    conditions = [outline.baseline, *outline.simulated_users, *outline.controls]
    return [
        (row, row.value)
        for row in study.rows(Estimate, conditions, measure="format_failure", reference="baseline")
        if row.value is not None
    ]


def _length_warnings(study: StudyEvidence) -> Iterator[str]:
    """Conditions whose lists have more or fewer options than the baseline's."""
    outline = study.outline
    conditions = [outline.baseline, *outline.users, *outline.controls]
    lengths = [(row, row.mean_counted) for row in study.rows(ListLength, conditions)]
    for place, listing in _gaps(lengths, outline, LENGTH_GAP, is_relative=True):
        yield (
            f"{place}: lists are not as long as {outline.phrase(outline.baseline)} (options: {listing}); "
            "longer lists look more varied (list\\_lengths)"
        )


def _gaps(
    values: Sequence[tuple[Any, float]],
    outline: StudyOutline,
    margin: float,
    *,
    is_relative: bool = False,
) -> Iterator[tuple[str, str]]:
    """Where a value is further than `margin` from the baseline's: task and model, and the values."""
    write = partial(number_text, digits=2) if is_relative else percent
    for members in groups(values, lambda pair: (pair[0].model, pair[0].task)):
        by_condition = {row.condition: value for row, value in members}
        baseline = by_condition.get(outline.baseline)
        if baseline is None:
            continue
        width = margin * baseline if is_relative else margin
        distant_conditions = [
            name for name, value in by_condition.items() if abs(value - baseline) > width
        ]
        if distant_conditions:
            listing = ", ".join(
                f"{write(by_condition[name])} {outline.phrase(name)}"
                for name in [*distant_conditions, outline.baseline]
            )
            yield task_name(members[0][0], outline), listing


def _large_losses(row: ReplyCounts) -> Iterator[str]:
    for n, loss in (
        (row.n_failed, "failed"),
        (row.n_unread, "cannot be read"),
        (row.n_refused, "are refusals"),
        (row.n_truncated, "are cut off at the longest answer allowed (max\\_tokens)"),
        (row.n_empty, "are empty"),
    ):
        if n > MANY * row.n:
            yield f"{n:,} ({percent(n / row.n)}) {loss}"


# ---- limits ------------------------------------------------------------------------------------------


def limits(
    study: StudyEvidence,
    replies: Sequence[ReplyCounts],
    unnamed_replies: Sequence[UnnamedReplies],
) -> list[str]:
    """What the study cannot say, and what is missing from it, a sentence each."""
    outline = study.outline
    sentences = [*outline.model_limits, *outline.notes, *_losses(study, replies)]
    sentences += [
        f"{outline.models.get(model, model)}: {n_unnamed:,} of {count_phrase(n, 'answer')} came without "
        "the name of the model, so another model's answers would not be noticed (responses)"
        for model, n, n_unnamed in unnamed_replies
    ]
    sentences += _single_answers(study)
    if not outline.controls:
        sentences.append(
            "No condition repeats the questions without a user (setting `after`), so nothing shows which "
            "numbers chance alone gives"
        )
    if outline.simulated_users and not outline.has_field:
        sentences.append(
            "No answers of real users: nothing says how near the simulated users are to them"
        )
    return [
        *sentences,
        "Only the comparisons that the study names in advance (primary) hold over all of it: among other "
        "differences expect false ones",
        "Intervals cover the draw of answers and users, not the choice of prompts or corpus; they hold "
        f"for kinds of users who are at least {percent(outline.rarest_users)} of all "
        "(metrics.rarest\\_users)",
    ]


def _losses(study: StudyEvidence, replies: Sequence[ReplyCounts]) -> Iterator[str]:
    n = sum(row.n for row in replies)
    n_lost = sum(row.n_failed + row.n_unread for row in replies)
    yield (
        f"Of {count_phrase(n, 'answer')}, {n_lost:,} failed or cannot be read (answers)"
        if n
        else "No answers have arrived (answers)"
    )
    n_corrected = sum(row.n_corrected for row in replies)
    if n_corrected:
        yield (
            f"{count_phrase(n_corrected, 'answer')} {'was' if n_corrected == 1 else 'were'} read by a "
            "person (parsing.overrides)"
        )
    arms = [(row, parts) for row in study.in_order(replies) if (parts := [*_arm_losses(row)])]
    for row, parts in arms[:MOST_ARMS]:
        yield f"{arm_name(row, study.outline)}: of {count_phrase(row.n, 'answer')} {join_words(parts)}"
    if len(arms) > MOST_ARMS:
        yield f"{len(arms) - MOST_ARMS} more conditions lost answers (answers)"
    if any(row.n_refused for row, _ in arms):
        yield REFUSALS_ARE_READ


def _arm_losses(row: ReplyCounts) -> Iterator[str]:
    for n, loss in (
        (row.n_failed, "failed"),
        (row.n_unread, "cannot be read"),
        (row.n_refused, "is a refusal" if row.n_refused == 1 else "are refusals"),
        (row.n_truncated, "is cut off" if row.n_truncated == 1 else "are cut off"),
    ):
        if n:
            yield f"{n:,} {loss}"


def _single_answers(study: StudyEvidence) -> Iterator[str]:
    """Conditions whose users answer once, so that contexts cannot be told from asking again."""
    single_answers = [
        row
        for row in study.rows(VarianceShare, study.outline.users)
        if row.n_puppets and not row.n_repeated
    ]
    if any(row.condition == FIELD for row in single_answers):
        yield (
            "No participant answers a prompt twice, so who asks cannot be told from asking again in "
            "the field"
        )
    names = dict.fromkeys(
        study.outline.label(row.condition) for row in single_answers if row.condition != FIELD
    )
    if names:
        yield (
            f"{join_words([*names])}: users were asked once, so contexts cannot be told from repeating; "
            "set `replicates: 2`"
        )
