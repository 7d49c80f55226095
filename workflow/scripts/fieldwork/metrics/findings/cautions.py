"""What makes the findings doubtful: warnings above the page, and limits at its end."""

from collections.abc import Iterator, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.families import is_control
from fieldwork.metrics.claims.table import SAME_ANSWERS
from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.outline import StudyOutline, arm_name, study_rows
from fieldwork.metrics.findings.replies import ReplyCounts, UnnamedReplies
from fieldwork.metrics.findings.verdicts import MEASURE_NAMES, claim_verdict
from fieldwork.metrics.findings.wording import count_phrase, join_words, percent
from fieldwork.records.claims import Claim
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import Accuracy, ListLength, VarianceShare

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

REFUSALS_ARE_READ = (
    "Refusals are recognised by their words: rules find all of those in surveys, 95 % of those of unsafe "
    "requests and 86 % of those in chats; of what they count as a refusal, nothing in surveys, 2 % and "
    "17 % is something else "
    "([docs/parsing.md](../../docs/parsing.md#refusals-1))"
)
"""Recall and precision of the parser's refusals, measured on real answers."""


# ---- warnings ----------------------------------------------------------------------------------------


def warnings(
    tables: FindingsTables, replies: Sequence[ReplyCounts], outline: StudyOutline
) -> list[str]:
    """What must be read before any number, a sentence each; often none."""
    return [
        *_control_warning(tables),
        *_repeat_warnings(tables, outline),
        *_loss_warnings(replies, outline),
        *_form_warnings(tables.accuracy, outline),
        *_length_warnings(tables.list_lengths, outline),
    ]


def control_tests(tables: FindingsTables) -> list[Claim]:
    """The tests of negative controls against the baseline that could have shown something."""
    return [
        claim
        for claim in tables.claims
        if is_control(claim.family) and claim_verdict(claim).is_tested
    ]


def _control_warning(tables: FindingsTables) -> Iterator[str]:
    tests = control_tests(tables)
    names = [
        f"{MEASURE_NAMES[claim.measure]} in {literal(claim.task)}"
        for claim in tests
        if claim.verdict == "differs"
    ]
    if names:
        yield (
            f"{_first([*dict.fromkeys(names)])}: repeated without a user there is a difference too, by "
            f"chance or a changed model ({len(names):,} of {count_phrase(len(tests), 'test')} of "
            "repeats); do not put differences of this kind down to users"
        )


def _first(names: Sequence[str]) -> str:
    rest = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return join_words([*names[:MOST_NAMES], *rest])


def _repeat_warnings(tables: FindingsTables, outline: StudyOutline) -> Iterator[str]:
    """Conditions whose answers are those of another one."""
    claims = [claim for claim in tables.claims if (claim.reason or "").startswith(SAME_ANSWERS)]
    yield from dict.fromkeys(
        f"{arm_name(claim, outline)}: every call is one of "
        f"{outline.label((claim.reason or '').removeprefix(SAME_ANSWERS))}, so that these are the same "
        "answers, shown twice and tested once"
        for claim in claims
    )


def _loss_warnings(replies: Sequence[ReplyCounts], outline: StudyOutline) -> Iterator[str]:
    rows = study_rows(replies, outline, list(outline.conditions))
    baselines = {(row.model, row.task): row for row in rows if row.condition == outline.baseline}
    for row in rows:
        baseline = baselines.get((row.model, row.task), row)
        if parts := [*_large_losses(row)]:
            yield (
                f"{arm_name(row, outline)}: of {count_phrase(row.n, 'answer')} {join_words(parts)}, so "
                "its "
                "numbers say more about how it was asked than about the model"
            )
        elif abs(row.share_lost - baseline.share_lost) > LOSS_GAP:
            yield (
                f"{arm_name(row, outline)}: {percent(row.share_lost)} of the answers are refused or "
                "cannot "
                f"be read, and {percent(baseline.share_lost)} {outline.phrase(outline.baseline)}: "
                "those that are left may be of another kind"
            )


def _form_warnings(rows: Sequence[Accuracy], outline: StudyOutline) -> Iterator[str]:
    """Conditions whose letters stand in another form than asked for more often than the baseline's."""
    shares = [row for row in rows if row.metric == "format_failure" and row.mean is not None]
    baselines = {(row.model, row.task): row for row in shares if row.condition == outline.baseline}
    for row in study_rows(shares, outline, [*outline.simulated_users, *outline.controls]):
        baseline = baselines.get((row.model, row.task))
        if baseline and abs((row.mean or 0.0) - (baseline.mean or 0.0)) > LOSS_GAP:
            yield (
                f"{arm_name(row, outline)}: {percent(row.mean or 0.0)} of the answers name no letter in "
                "the "
                f"form that was asked for, and {percent(baseline.mean or 0.0)} "
                f"{outline.phrase(outline.baseline)}; these count as wrong (accuracy, format\\_failure)"
            )


def _length_warnings(rows: Sequence[ListLength], outline: StudyOutline) -> Iterator[str]:
    """Conditions whose lists have more or fewer options than the baseline's."""
    baselines = {(row.model, row.task): row for row in rows if row.condition == outline.baseline}
    for row in study_rows(rows, outline, [*outline.users, *outline.controls]):
        baseline = baselines.get((row.model, row.task))
        if baseline is None:
            continue
        gap = row.mean_counted - baseline.mean_counted
        if abs(gap) > LENGTH_GAP * baseline.mean_counted:
            yield (
                f"{arm_name(row, outline)}: lists have {row.mean_counted:.2f} options on average, and "
                f"{baseline.mean_counted:.2f} {outline.phrase(outline.baseline)}; longer lists look "
                "more varied (list\\_lengths)"
            )


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
    tables: FindingsTables,
    replies: Sequence[ReplyCounts],
    unnamed_replies: Sequence[UnnamedReplies],
    outline: StudyOutline,
) -> list[str]:
    """What the study cannot say, and what is missing from it, a sentence each."""
    sentences = [*outline.model_limits, *outline.notes, *_losses(replies, outline)]
    sentences += [
        f"{outline.models.get(model, model)}: {n_unnamed:,} of {count_phrase(n, 'answer')} came without "
        "the name of the model, so another model's answers would not be noticed (responses)"
        for model, n, n_unnamed in unnamed_replies
    ]
    sentences += _single_answers(tables.variance, outline)
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


def _losses(replies: Sequence[ReplyCounts], outline: StudyOutline) -> Iterator[str]:
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
    arms = [
        (row, parts)
        for row in study_rows(replies, outline, list(outline.conditions))
        if (parts := [*_arm_losses(row)])
    ]
    for row, parts in arms[:MOST_ARMS]:
        yield f"{arm_name(row, outline)}: of {count_phrase(row.n, 'answer')} {join_words(parts)}"
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


def _single_answers(rows: Sequence[VarianceShare], outline: StudyOutline) -> Iterator[str]:
    """Conditions whose users answer once, so that contexts cannot be told from asking again."""
    single_answers = [
        row
        for row in study_rows(rows, outline, outline.users)
        if row.n_puppets and not row.n_repeated
    ]
    if any(row.condition == FIELD for row in single_answers):
        yield (
            "No participant answers a prompt twice, so who asks cannot be told from asking again in "
            "the field"
        )
    names = dict.fromkeys(
        outline.label(row.condition) for row in single_answers if row.condition != FIELD
    )
    if names:
        yield (
            f"{join_words([*names])}: users were asked once, so contexts cannot be told from repeating; "
            "set `replicates: 2`"
        )
