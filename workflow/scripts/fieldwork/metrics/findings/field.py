"""The sections about real users: groups, who answers as they do, and weights that come closer.

A gain of weights is claimed only where the table's verdict is `calibrated`, which has its test.
"""

from collections.abc import Iterable, Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.keys import arm_of
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import groups
from fieldwork.metrics.findings.sections import (
    ARM,
    MODEL,
    TASK,
    Section,
    TableColumn,
    count,
    if_tested,
    interval,
    number,
    of_row_beside,
    p_value,
    text,
)
from fieldwork.metrics.findings.verdicts import UNDECIDED_VERDICT, FindingVerdict
from fieldwork.metrics.findings.wording import (
    HUNDREDTHS,
    NOTHING,
    PERCENT,
    THOUSANDTHS,
    NumberStyle,
    count_phrase,
    join_words,
    number_text,
    p_cell,
    percent,
    signed_number,
)
from fieldwork.records.field import Calibration, GroupDifference, ItemAgreement, RankAgreement
from fieldwork.statistics.families import LEVEL

# ---- groups ------------------------------------------------------------------------------------------

_MEASURES = {
    "entropy_bits": NumberStyle("entropy, bits", 2, is_difference=True),
    "one_minus_top5_share": NumberStyle("1 − top-5 share, points", 0, 100, is_difference=True),
    "share_correct": NumberStyle("share correct, points", 0, 100, is_difference=True),
    "share_unread": NumberStyle("share that cannot be read, points", 0, 100, is_difference=True),
    "js_bits": NumberStyle("distribution, bits", 0, 100, is_difference=True),
}


def _telling_differences(study: StudyEvidence) -> list[GroupDifference]:
    """Of each measure the means that differ, or the nearest to it; then a prompt of those that differ."""
    telling_rows: list[GroupDifference] = []
    for family in groups(
        study.rows(GroupDifference), lambda row: (row.task, row.model, row.variable)
    ):
        means = [row for row in family if row.item_id is None]
        for rows in groups(means, lambda row: (row.metric, row.group is None)):
            tests = study.tests("group_difference", rows)
            nearest = min(tests, key=lambda row: row.p_value or 0.0) if tests else rows[0]
            telling_rows += study.differences("group_difference", rows) or [nearest]
        prompts = [row for row in family if row.item_id is not None]
        for rows in groups(prompts, lambda row: row.metric):
            telling_rows += study.differences("group_difference", rows)[:1]
    return telling_rows


def _prompts(row: GroupDifference, study: StudyEvidence) -> list[GroupDifference]:
    """The tests of single prompts that a row stands for; none of a mean over prompts."""
    if row.item_id is None:
        return []
    rows = study.rows_beside(GroupDifference, row, variable=row.variable, metric=row.metric)
    return [prompt for prompt in rows if prompt.item_id is not None]


def _groups_compared(row: GroupDifference, _: StudyEvidence) -> str:
    if row.item_id is not None:
        return "by prompt"
    if row.group is None:
        return "all"
    versus = literal(row.versus) if row.versus else "mean of the others"
    return f"{literal(row.group)} − {versus}"


def _group_measure(row: GroupDifference, _: StudyEvidence) -> str:
    name = _MEASURES[row.metric].words
    return name if row.item_id is None else name.partition(",")[0]


def _group_amount(row: GroupDifference, study: StudyEvidence) -> str:
    """The difference; of prompts the names of those that differ."""
    if prompts := _prompts(row, study):
        names = (
            literal(prompt.item_id or "") + (f" ({literal(prompt.group)})" if prompt.group else "")
            for prompt in study.differences("group_difference", prompts)
        )
        return ", ".join(dict.fromkeys(names))
    if row.difference is None:
        return NOTHING
    if row.group is None:
        return f"{number_text(row.value or 0.0, 3)}, by chance {number_text(row.value_versus or 0.0, 3)}"
    return _MEASURES[row.metric].interval(row.difference, row.ci_low, row.ci_high)


def _participants(row: GroupDifference, _: StudyEvidence) -> str:
    if row.item_id is not None:
        return NOTHING
    return str(row.n_group) if row.group is None else f"{row.n_group}, {row.n_versus}"


def _p_of_groups(row: GroupDifference, study: StudyEvidence) -> str:
    is_mean = row.item_id is None
    return p_cell(study.claims.p_value("group_difference", row)) if is_mean else NOTHING


def _group_verdict(row: GroupDifference, study: StudyEvidence) -> FindingVerdict:
    if prompts := _prompts(row, study):
        n_differ = len(study.differences("group_difference", prompts))
        return FindingVerdict(f"{n_differ} of {len(prompts)} differ", True, True)
    return study.verdict("group_difference", row)


def _variables(study: StudyEvidence) -> str:
    names = {literal(row.variable) for row in study.rows(GroupDifference)}
    return f"Groups of real users: {', '.join(sorted(names))}"


GROUPS_OF_USERS = Section(
    _variables,
    "Do groups of participants answer differently? Where nothing is shown, the nearest is listed.",
    ["group_differences"],
    _telling_differences,
    [
        TASK,
        MODEL,
        TableColumn("Variable", text("variable")),
        TableColumn("Groups", _groups_compared),
        TableColumn("Measure", _group_measure),
        TableColumn("Difference", _group_amount),
        TableColumn("Participants", _participants),
        TableColumn("Prompts", lambda row, _: str(row.n_items if row.item_id is None else 1)),
        TableColumn("p", _p_of_groups),
    ],
    _group_verdict,
)

# ---- does a condition predict the field --------------------------------------------------------------

_ORDERS = {
    "entropy_bits": "entropy",
    "top_share": "share of the commonest option",
    "share_correct": "share correct",
}


def _ceiling(row: RankAgreement, _: StudyEvidence) -> str:
    if row.over != "items" or row.rho is None:
        return NOTHING
    return "unknown: too few answers" if row.ceiling is None else number_text(row.ceiling, 2)


PREDICTORS = Section(
    "Does it predict the field?",
    "Does a condition rank prompts, or models, as real users do? tau-b and rho are 1 for the same "
    "order, −1 for the opposite one; the ceiling is the rho to expect of one true order.",
    ["rank_agreement"],
    lambda study: study.rows(RankAgreement),
    [
        *ARM,
        TableColumn(
            "Ranked",
            lambda row, _: (
                f"{count_phrase(row.n_ranked, row.over.removesuffix('s'))} by {_ORDERS[row.measure]}"
            ),
        ),
        TableColumn("tau-b", interval("tau_b", HUNDREDTHS.as_difference, "tau_low", "tau_high")),
        TableColumn("p", p_value("field_order")),
        TableColumn(
            "Pairs turned",
            lambda row, _: (
                NOTHING if row.n_discordant is None else f"{row.n_discordant}/{row.n_pairs}"
            ),
        ),
        TableColumn(
            "rho", lambda row, _: NOTHING if row.rho is None else signed_number(row.rho, 2)
        ),
        TableColumn("Ceiling", _ceiling),
    ],
    "field_order",
)

# ---- how near the answers are ------------------------------------------------------------------------


def _furthest_prompts(study: StudyEvidence) -> list[ItemAgreement]:
    """Of each arm the prompt that is furthest from the field; without a test any."""
    arms = groups(study.rows(ItemAgreement), lambda row: (arm_of(row), row.kind))
    return [
        max(
            study.tests("field_distance", arm),
            key=lambda row: row.js_distance or 0.0,
            default=arm[0],
        )
        for arm in arms
    ]


def _agreements(row: ItemAgreement, study: StudyEvidence) -> list[ItemAgreement]:
    """The prompts of a row's arm with a test."""
    arm = study.rows_beside(ItemAgreement, row, kind=row.kind)
    return study.tests("field_distance", arm)


def _differing_prompts(row: ItemAgreement, study: StudyEvidence) -> str:
    tests = _agreements(row, study)
    return f"{len(study.differences('field_distance', tests))}/{len(tests)}"


def _moves(row: ItemAgreement, study: StudyEvidence) -> str:
    tests = study.tests("field_place", _agreements(row, study))
    movers = [r for r in study.differences("field_place", tests) if r.rank_change]
    names = f": {join_words([literal(mover.item_id) for mover in movers])}" if movers else ""
    return f"{len(movers)}/{len(tests)}{names}" if tests else NOTHING


def _same_answers(row: ItemAgreement, study: StudyEvidence) -> str:
    tests = _agreements(row, study)
    n_same = sum(bool(row.is_same_top) for row in tests)
    return f"{n_same} ({percent(n_same / len(tests))})"


def _field_verdict(row: ItemAgreement, study: StudyEvidence) -> FindingVerdict:
    """What tests of single prompts show of the whole condition."""
    tests = _agreements(row, study)
    if not tests:
        return study.verdict("field_distance", row)
    is_shown = bool(study.differences("field_distance", tests))
    return FindingVerdict("differs" if is_shown else UNDECIDED_VERDICT, True, is_shown)


NEAR_THE_FIELD = Section(
    "How near to the field",
    "On how many prompts do answers differ from real users'? The furthest is named with its "
    "Jensen-Shannon distance (0 to 1) and that of chance alone.",
    ["item_agreement"],
    _furthest_prompts,
    [
        *ARM,
        *if_tested(
            "field_distance",
            TableColumn("Prompts that differ", _differing_prompts),
            TableColumn("Furthest", text("item_id")),
            TableColumn("Distance", number("js_distance", HUNDREDTHS)),
            TableColumn("Chance", number("js_expected_same", HUNDREDTHS)),
            TableColumn("Change place", _moves),
            TableColumn("Same commonest answer", _same_answers),
        ),
    ],
    _field_verdict,
)

# ---- in sentences ------------------------------------------------------------------------------------


def repeated_text_notes(quality: Iterable[Mapping[str, str]]) -> list[str]:
    """A caution where participants gave the same text to a prompt again.

    Args:
        quality: rows of `QualityCheck` as texts.
    """
    n = sum(int(row["n_flagged"]) for row in quality if row["check"] == "same_text")
    if not n:
        return []
    answers = f"{n:,} answers of real users are" if n > 1 else "one answer of real users is"
    return [
        f"{answers}, word for word, what the same person had answered before: asked again, or in a file "
        "that holds the rows of an earlier one, which makes asking again look as if it changed nothing "
        "(field/quality.csv, same_text)"
    ]


def field_sentence(study: StudyEvidence) -> str:
    """How near the model's answers come to those of real users; empty without them."""
    outline = study.outline
    if not outline.has_field:
        return ""
    tests = study.tests("field_distance", study.rows(ItemAgreement))
    if not tests:
        return "no answers can be compared with theirs"
    is_compared = any(row.predictor == outline.baseline for row in tests)
    nearest = outline.baseline if is_compared else tests[0].predictor
    tests = [row for row in tests if row.predictor == nearest]
    n_differ, n = (
        len({(row.task, row.item_id) for row in rows})
        for rows in (study.differences("field_distance", tests), tests)
    )
    return (
        f"answers in their chats differ from those {outline.phrase(nearest)} on {n_differ:,} of "
        f"{count_phrase(n, 'question')} (other days, no controlled comparison)"
        f"{_order_phrase(study.differences('field_order', study.rows(RankAgreement)), study)}"
    )


def _order_phrase(orders: Sequence[RankAgreement], study: StudyEvidence) -> str:
    """Which conditions rank prompts as the field does."""
    names = [study.outline.phrase(row.predictor) for row in orders if (row.tau_b or 0.0) > 0]
    phrases = join_words([*dict.fromkeys(names)])
    return f"; {phrases}, questions rank as in their chats" if phrases else ""


# ---- calibration --------------------------------------------------------------------------------------


def _mixtures(study: StudyEvidence) -> list[Calibration]:
    models, conditions = [*study.outline.models], [*study.outline.conditions]
    return sorted(
        (
            row
            for row in study.of(Calibration)
            if row.comparator == "calibrated" and row.model in models
        ),
        key=lambda row: (
            models.index(row.model),
            row.level,
            conditions.index(row.puppets_of) if row.puppets_of in conditions else -1,
        ),
    )


def best_arm(row: Calibration, study: StudyEvidence) -> Calibration | None:
    """The best uncalibrated comparator of a calibration."""
    level = {"level": row.level, "puppets_of": row.puppets_of, "is_best": True}
    return next(iter(study.rows_beside(Calibration, row, model=row.model, **level)), None)


def _weights(row: Calibration, study: StudyEvidence) -> str:
    return f"puppets of {study.outline.label(row.puppets_of)}" if row.puppets_of else "conditions"


def _calibration_verdict(row: Calibration, study: StudyEvidence) -> FindingVerdict:
    """Whether weights come closer to the field than the best uncalibrated arm.

    Calibration decides for itself, with tests of its own on prompts held out.
    """
    best = best_arm(row, study)
    if row.js_bits is None or best is None:
        reason = f": {literal(row.reason)}" if row.reason else ""
        return FindingVerdict(f"{row.verdict}{reason}")
    if row.verdict == "calibrated":
        return FindingVerdict("calibrated: closer", True, True)
    is_sure = best.p_holm is not None and best.p_holm < LEVEL
    if is_sure and best.ci_high is not None and best.ci_high < 0:
        return FindingVerdict(f"{row.verdict}: further", True, True)
    return FindingVerdict(f"{row.verdict}: gain not shown", True)


CALIBRATION = Section(
    "Calibration to the field",
    "Do weights come closer to real users than the best uncalibrated arm, on prompts held out? "
    "Bits of distance: fewer is closer. The first table has the shares that the weights give.",
    ["calibrated_shares", "calibration"],
    _mixtures,
    [
        MODEL,
        TableColumn("Weights of", _weights),
        TableColumn("Bits", number("js_bits", THOUSANDTHS)),
        TableColumn("Bits in sample", number("in_sample_bits", THOUSANDTHS)),
        TableColumn(
            "Best arm",
            of_row_beside(
                best_arm,
                lambda best, study: study.outline.label(best.arm) if best.arm else "equal weights",
            ),
        ),
        TableColumn("Its bits", of_row_beside(best_arm, number("js_bits", THOUSANDTHS))),
        TableColumn(
            "Gain", of_row_beside(best_arm, interval("gain_bits", THOUSANDTHS.as_difference))
        ),
        TableColumn(
            "Gap closed, %",
            of_row_beside(best_arm, interval("gap_closed", PERCENT, "closed_low", "closed_high")),
        ),
        TableColumn("p", of_row_beside(best_arm, lambda best, _: p_cell(best.p_holm))),
        TableColumn("Prompts", count("n_prompts")),
        TableColumn("Least n of the field", count("n_field")),
    ],
    _calibration_verdict,
)
