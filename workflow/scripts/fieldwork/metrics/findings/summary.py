"""The first sentences of the page, for a reader without statistics: at most 120 words.

Promises that a difference is claimed only with its test, beside what asking again gives; that what is not
shown is not said to be absent; and that a question is counted as the tables count it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork.conditions import WHO_ASKS
from fieldwork.metrics.claims.families import PRIMARY, is_control
from fieldwork.metrics.findings.cautions import control_tests
from fieldwork.metrics.findings.drift import drift_scores, drift_sentence
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.field import field_sentence
from fieldwork.metrics.findings.form import form_sentence
from fieldwork.metrics.findings.group_gaps import group_gap_sentence
from fieldwork.metrics.findings.outline import StudyOutline, task_name
from fieldwork.metrics.findings.practice import practice_sentence
from fieldwork.metrics.findings.question_answers import (
    ConditionAnswers,
    QuestionAnswers,
    question_answers,
    single_question_claims,
)
from fieldwork.metrics.findings.questions import answers_of, value_text
from fieldwork.metrics.findings.raters import rater_sentence
from fieldwork.metrics.findings.scores import read_scores
from fieldwork.metrics.findings.values import values_sentence
from fieldwork.metrics.findings.verdicts import claim_verdict
from fieldwork.metrics.findings.wording import (
    NOTHING,
    count_phrase,
    join_words,
    number_text,
    percent,
)
from fieldwork.metrics.findings.wordings import wording_sentence
from fieldwork.records.claims import Claim
from fieldwork.records.drift import Drift
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import VALUE_KINDS

MOST_WORDS = 120
NAMED_SCORES = 3
"""Scores of a study without users that the summary names."""

_OVERALL: Mapping[str, str] = {
    "share_who": "who asks",
    "entropy_bits": "variety of answers",
    "score": "scores",
    "score_spread": "spread of scores",
    "novelty": "new answers",
}
"""Measures over all questions of a task, and the words for what they show nothing of."""

_TARGET = re.compile(r"\]\([^)]*\)")


class ShortSentence(NamedTuple):
    """A sentence of the summary, without its full stop.

    Attributes:
        topic: the word before it; empty for the first.
        is_needed: whether it stays where there are more words than a reader takes in.
        brief: what stands in its place where it is too long.
    """

    topic: str
    text: str
    is_needed: bool = False
    brief: str = ""

    def markdown(self) -> str:
        """The sentence as it is printed."""
        return f"**{self.topic}:** {self.text}." if self.topic else f"{self.text}."


def in_short(study: StudyEvidence, n_warnings: int = 0) -> list[str]:
    """The sentences in their order; what would make them too long is left to the tables.

    Args:
        n_warnings: warnings that stand below.
    """
    questions = question_answers(study)
    outline, has_waves = study.outline, bool(study.of(Drift))
    has_users = bool(outline.simulated_users)
    answer, overall = _answer(questions, [*_overall_sentences(study)], study)
    sentences = [
        ShortSentence("", answer, True),
        ShortSentence("Over time", drift_sentence(study), not has_users),
        ShortSentence("Real users", field_sentence(study), outline.has_field),
        ShortSentence("Chance", _chance(questions, study), True),
        ShortSentence("Doubt", _doubt(n_warnings), True),
        *overall,
        ShortSentence("Right answers", "" if has_users else _scores_alone(study)),
        ShortSentence("Scales", values_sentence(study)),
        ShortSentence("Judges", rater_sentence(study)),
        ShortSentence("Groups", group_gap_sentence(study)),
        ShortSentence("Wording", wording_sentence(study)),
        ShortSentence("Practice", practice_sentence(study)),
        ShortSentence("Form", form_sentence(study)),
        ShortSentence("Says nothing of", _limits(outline, has_waves), True),
        ShortSentence("To learn more", _what_decides(questions, study), True),
    ]
    texts: dict[str, list[str]] = {}
    for sentence in _shorten(MOST_WORDS, sentences):
        texts.setdefault(sentence.topic, []).append(sentence.text)
    return [ShortSentence(topic, "; ".join(parts)).markdown() for topic, parts in texts.items()]


def _shorten(most_words: int, sentences: Sequence[ShortSentence]) -> list[ShortSentence]:
    """The sentences that are needed, and of the others the first ones that fit, some in brief."""
    sentences = [sentence for sentence in sentences if sentence.text]
    n_left = most_words - sum(n_words(s.markdown()) for s in sentences if s.is_needed)
    short_sentences = []
    for sentence in sentences:
        if sentence.is_needed:
            short_sentences.append(sentence)
            continue
        is_joined = any(other.topic == sentence.topic for other in short_sentences)
        # what follows under the same topic may be a name alone
        for text in (sentence.text, sentence.brief if is_joined else ""):
            length = (
                n_words(text) if is_joined else n_words(sentence._replace(text=text).markdown())
            )
            if text and length <= n_left:
                n_left -= length
                short_sentences.append(sentence._replace(text=text))
                break
    return short_sentences


def n_words(markdown: str) -> int:
    """Words of a text as it is read: without the addresses of its links, and `65 %` is one."""
    words = _TARGET.sub("]", markdown).split()
    return sum(any(letter.isalnum() for letter in word) for word in words)


# ---- the question of the study -----------------------------------------------------------------------


def _answer(
    questions: Sequence[QuestionAnswers],
    overall: Sequence[ShortSentence],
    study: StudyEvidence,
) -> tuple[str, list[ShortSentence]]:
    """The first sentence, and those over all questions that it does not say already."""
    outline = study.outline
    users = outline.simulated_users
    rest = [*overall]
    if not users:
        return "", rest
    n = _n_questions(questions, outline)
    movers = [(q, row) for q in questions if (row := q.furthest(users))]
    n_differ = len({(question.task, question.item_id) for question, _ in movers})
    is_general = outline.question in (None, WHO_ASKS)
    if movers:
        lead = "Yes, for" if is_general else "Answers differ with a user on"
        kinds = " under at least one of these conditions" if len(users) > 1 else ""
        example = _example(*movers[0], n_differ, study)
        return f"**{lead} {n_differ:,} of {count_phrase(n, 'question')}**{kinds}. {example}", rest
    if rest and rest[0].topic == "Overall":
        lead = "Yes, but only" if is_general else "Answers differ with a user only"
        text = rest.pop(0).text
        return f"**{lead} over all questions together**: {text}; none of {n:,} differs alone", rest
    if not any(row.verdict.is_tested for q in questions for row in q.rows_of(users)):
        return "**This cannot be said:** too few answers with and without a user", rest
    return f"**Not detected** for any of {count_phrase(n, 'question')}", rest


def _n_questions(questions: Sequence[QuestionAnswers], outline: StudyOutline) -> int:
    """All questions of the study but free text, also those with too few answers to compare."""
    keys = {ItemKey(question.task, question.item_id) for question in questions}
    return len(keys | {*outline.compared_questions})


def _example(
    question: QuestionAnswers,
    row: ConditionAnswers,
    n_differ: int,
    study: StudyEvidence,
) -> str:
    """The clearest question: `*Which companies …?* “Apple”: 70 % without a user, 8 % with …`."""
    outline = study.outline
    place = max(range(len(row.values)), key=lambda k: _distance(question, row, k))
    sides = [question.baseline, row, *question.rows_of(outline.controls)[:1]]
    option = question.options[place] if question.options else None
    values = [
        f"{answers_of(value_text(question, side.values[place]), question, side, option)} "
        f"{outline.phrase(side.condition)}"
        for side in sides
    ]
    name = outline.marked_option(question.task, question.item_id, option) if option else ""
    is_planned = any(
        claim.family == PRIMARY
        for claim in single_question_claims(study)
        if (claim.model, claim.task, claim.item_id, claim.condition)
        == (question.model, question.task, question.item_id, row.condition)
    )
    plan = "named in advance" if is_planned else "not named in advance"
    if n_differ > 1:
        plan = f"{plan}, but " if is_planned else ""
        plan += f"picked afterwards as the largest of {n_differ:,}, so likely overstated"
    quantity = f"“{name}” " if name else "mean " if question.kind == "scale" else "median "
    text = outline.question_text(question.task, question.item_id)
    model = f" ({outline.models[question.model]})" if len(outline.models) > 1 else ""
    return f"*{text}*{model} {quantity}{', '.join(values)} ({plan})"


def _distance(question: QuestionAnswers, row: ConditionAnswers, place: int) -> float:
    return abs((row.values[place] or 0.0) - (question.baseline.values[place] or 0.0))


def _chance(questions: Sequence[QuestionAnswers], study: StudyEvidence) -> str:
    outline = study.outline
    if not (outline.controls or outline.simulated_users):
        return ""
    if not outline.controls:
        return "nothing was repeated without a user, so chance is not measured"
    tests = control_tests(study)
    if not tests:
        return "repeating without a user gave no answers to compare"
    n_differ = len(
        {(q.task, q.item_id) for q in questions if q.furthest(outline.controls) is not None}
    )
    n = _n_questions(questions, outline)
    return f"repeated without a user, {n_differ:,} of {n:,} differ beyond chance"


def _doubt(n_warnings: int) -> str:
    if not n_warnings:
        return ""
    return f"{count_phrase(n_warnings, 'warning')} below"


# ---- over all questions ------------------------------------------------------------------------------


def _overall_claims(study: StudyEvidence) -> list[Claim]:
    """Tests over all questions of a task with a simulated user."""
    return [
        claim
        for claim in study.claims
        if claim.measure in _OVERALL
        and claim.condition in study.outline.simulated_users
        and not is_control(claim.family)
        and claim_verdict(claim).is_tested
    ]


def _overall_sentences(study: StudyEvidence) -> Iterator[ShortSentence]:
    claims = _overall_claims(study)
    not_shown = []
    for measure, name in _OVERALL.items():
        tests = [claim for claim in claims if claim.measure == measure]
        claims_shown = [claim for claim in tests if claim.verdict == "differs"]
        if claims_shown:
            furthest = max(claims_shown, key=lambda claim: abs(claim.estimate or 0.0))
            text = _shown_text(furthest, study)
            yield ShortSentence("Overall", text, brief=f"{name} too")
        elif tests:
            not_shown.append(name)
    if not_shown:
        yield ShortSentence("Not detected", f"a difference in {join_words(not_shown)}")


def _shown_text(claim: Claim, study: StudyEvidence) -> str:
    """What a claim over all questions says: the largest of its measure."""
    phrase = study.outline.phrase(claim.condition)
    match claim.measure:
        case "share_who":
            return f"who asks explains up to {percent(claim.estimate or 0.0)} of how answers vary"
        case "entropy_bits":
            if claim.direction == "differs":
                return f"the variety of answers differs {phrase}"
            return f"answers are {claim.direction} {phrase}"
        case "score_spread":
            return "scores differ more between users than between reruns"
        case "novelty":
            share, reruns = (
                percent(value or 0.0) for value in (claim.value, claim.reference_value)
            )
            return f"users get new answers on {share} of questions, reruns on {reruns}"
    score, baseline = (
        NOTHING if value is None else percent(value, digits=1)
        for value in (claim.value, claim.reference_value)
    )
    return f"{score} of answers are right {phrase}, {baseline} without"


def _scores_alone(study: StudyEvidence) -> str:
    """Scores of a study without users: of each model, on the tasks that come first."""
    if study.of(Drift):
        return drift_scores(study)
    scores = [
        f"{percent(row.value, digits=1)} ({task_name(row, study.outline)})"
        for row in read_scores(study)
        if row.condition == study.outline.baseline and row.value is not None
    ]
    return join_words(scores[:NAMED_SCORES])


# ---- what does not follow, and what would decide -----------------------------------------------------


def _limits(outline: StudyOutline, has_waves: bool) -> str:
    material = "other questions, other models"
    if has_waves:
        return f"why answers moved, {material}"
    if outline.has_field:
        return f"people who did not take part, {material}"
    if outline.simulated_users:
        return f"real people (these users are simulated), what any other text would do, {material}"
    return material


def _what_decides(questions: Sequence[QuestionAnswers], study: StudyEvidence) -> str:
    """How far a share has to move to be noticed, and what notices half of that."""
    users = study.outline.simulated_users
    effects = sorted(
        claim.smallest_effect
        for claim in study.claims
        if claim.measure == "option_share"
        and claim.condition in users
        and claim.verdict == "undecided"
        and claim.smallest_effect is not None
        and claim.smallest_effect <= 1
    )
    sizes = sorted(
        row.n for q in questions if q.kind not in VALUE_KINDS for row in q.rows_of(users) if row.n
    )
    if effects and sizes:
        effect, n = effects[len(effects) // 2], sizes[len(sizes) // 2]
        half, whole = (number_text(size * effect, 0) for size in (50, 100))
        return (
            f"ask more users: with {n:,}, moves under {whole} percentage points often go unnoticed; "
            f"with {4 * n:,}, under {half}"
        )
    if any(
        row.verdict.text and not row.verdict.is_shown for q in questions for row in q.rows_of(users)
    ):
        return "with four times the users half as much is detected (`snakemake power`)"
    if study.of(Drift) and not study.outline.controls:
        return "ask twice within a wave, to see how much moves in so short a time"
    if any(q.furthest(users) for q in questions):
        return "name the largest difference in advance, and ask new users"
    return ""
