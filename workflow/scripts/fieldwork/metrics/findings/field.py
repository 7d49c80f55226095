"""What is claimed of real users: differences between their groups, and who ranks prompts as they do.

Owns the sections of the findings about the tables that stand against the field. As in `claims`, a
difference or an agreement is claimed only where its test, corrected by Holm, has p below `LEVEL`, and
every sentence names its table. Promises no section where the study has no answers of real users.
"""

from collections.abc import Sequence

from fieldwork.metrics.findings.page import Section, Study, groups, is_shown
from fieldwork.metrics.findings.phrases import (
    LEVEL,
    counted,
    interval,
    literal,
    p_text,
    percent,
    points,
    points_interval,
    signed,
)
from fieldwork.records.field import GroupDifference, ItemAgreement, RankAgreement

_NAMES = {
    "entropy_bits": "the entropy of their answers",
    "one_minus_top5_share": "1 − top-5 share",
    "share_correct": "the share correct",
    "share_unread": "the share that cannot be read",
    "js_bits": "the distribution of their answers",
}
_RANKED = {
    "entropy_bits": "entropy",
    "top_share": "share of the commonest option",
    "share_correct": "share correct",
}


def sections(
    differences: Sequence[GroupDifference],
    ranks: Sequence[RankAgreement],
    items: Sequence[ItemAgreement],
    study: Study,
) -> list[Section]:
    """The sections of a study with a field; none without."""
    if not (differences or ranks or items):
        return []
    found = [groups_of_users(differences, study)] if differences else []
    return [*found, predictors(ranks, study), near_the_field(items, study)]


# ---- groups ------------------------------------------------------------------------------------------


def groups_of_users(rows: Sequence[GroupDifference], study: Study) -> Section:
    """Whether groups of participants answer differently; prompts are counted, means are told."""
    own = _told(rows, study)
    tested = [r for r in own if r.p_holm is not None]
    lines = []
    for family in groups(own, lambda r: (r.model, r.task, r.variable)):
        means = [r for r in family if r.item_id is None]
        for rows_of_metric in groups(means, lambda r: (r.metric, str(r.group is None))):
            place = _place(rows_of_metric[0], study)
            lines += [f"{place}: {told} [group_differences]" for told in _metric(rows_of_metric)]
        lines += _by_prompt(family, study)
    shown = [r for r in tested if is_shown(r.p_holm)]
    variables = sorted({r.variable for r in own})
    if not tested:
        head = "No differences between groups of participants can be tested [group_differences]."
    elif not shown:
        head = (
            f"No difference between groups of participants is shown in any of "
            f"{counted(len(tested), 'test')} [group_differences]."
        )
    else:
        families = _families(tested)
        head = (
            f"Groups of participants are shown to differ in {len(shown)} of "
            f"{counted(len(tested), 'test')}, corrected within a variable and metric: of "
            f"{families} such families, chance alone makes up to {LEVEL * families:.2g} tell a "
            "difference [group_differences]."
        )
    return Section(f"Groups of real users: {', '.join(variables)}", head, lines)


def _families(rows: Sequence[GroupDifference]) -> int:
    return len({(r.model, r.task, r.kind, r.variable, r.metric, r.item_id is None) for r in rows})


def _metric(rows: Sequence[GroupDifference]) -> list[str]:
    """The differences that are shown, or one sentence that none is, with the nearest to one."""
    tested = [r for r in rows if r.p_holm is not None]
    shown = [r for r in tested if is_shown(r.p_holm)]
    if shown or not tested:
        return [_difference(r) for r in shown or rows[:1]]
    return [_difference(min(tested, key=lambda r: r.p_value or 0.0))]


def _difference(row: GroupDifference) -> str:
    what = _NAMES[row.metric]
    if row.difference is None or row.p_holm is None:
        return f"no test of {what}, because {row.reason}"
    test = f"{p_text(row.p_holm)} among {counted(row.n_family, 'test')}"
    if row.group is None:
        told = (
            f"{row.value or 0.0:.3f} bits apart where chance gives {row.value_versus or 0.0:.3f} "
            f"({test}; {counted(row.n_group, 'participant')}, {counted(row.n_items, 'prompt')})"
        )
        return (
            f"groups differ in {what}, {told}"
            if is_shown(row.p_holm)
            else f"no difference between groups in {what} shown: {told}"
        )
    n = f"{row.n_group} and {row.n_versus} participants, {counted(row.n_items, 'prompt')}"
    numbers = f"{_amount(row)}, {test}; {n}"
    versus = literal(row.versus) if row.versus else "the mean of the other groups"
    sides = f"{literal(row.group)} and {versus}"
    if is_shown(row.p_holm):
        return f"{sides} differ in {what}: {numbers}"
    if row.n_family > 1:
        return f"no difference in {what} shown, nearest to one {sides}: {numbers}"
    return f"no difference of {sides} in {what} shown: {numbers}"


def _amount(row: GroupDifference) -> str:
    if row.metric == "entropy_bits":
        return (
            f"{signed(row.difference or 0.0, digits=2)} bits, {interval(row.ci_low, row.ci_high)}"
        )
    return f"{points(row.difference or 0.0)}, {points_interval(row.ci_low, row.ci_high)}"


def _by_prompt(family: Sequence[GroupDifference], study: Study) -> list[str]:
    """One line a metric: how many prompts and groups differ by themselves."""
    lines = []
    tested = [r for r in family if r.item_id is not None and r.p_holm is not None]
    for rows in groups(tested, lambda r: (r.metric,)):
        shown = [r for r in rows if is_shown(r.p_holm)]
        if shown:
            names = ", ".join(dict.fromkeys(_case(r) for r in shown))
            lines.append(
                f"{_place(rows[0], study)}: prompt by prompt, {_NAMES[rows[0].metric]} differs in "
                f"{len(shown)} of {counted(len(rows), 'test')} ({names}) [group_differences]"
            )
    return lines


def _case(row: GroupDifference) -> str:
    return literal(row.item_id or "") + (f", {literal(row.group)}" if row.group else "")


def _place(row: GroupDifference, study: Study) -> str:
    model = [study.models[row.model]] if len(study.models) > 1 else []
    return ", ".join([*model, row.task, literal(row.variable)])


# ---- does a condition predict the field --------------------------------------------------------------


def predictors(rows: Sequence[RankAgreement], study: Study) -> Section:
    """Whether a condition puts prompts, or models, in the field's order."""
    own = [r for r in rows if r.predictor in study.conditions and r.task in study.tasks]
    own = [r for r in own if r.model is None or r.model in study.models]
    own.sort(key=lambda r: list(study.conditions).index(r.predictor))
    lines = [f"{_where(r, study)}: {_order(r)} [rank_agreement]" for r in own]
    tested = [r for r in own if r.p_holm is not None]
    shown = [r for r in tested if is_shown(r.p_holm) and (r.tau_b or 0.0) > 0]
    if not tested:
        head = "That a condition ranks prompts as real users do cannot be tested [rank_agreement]."
    elif not shown:
        head = (
            f"No condition is shown to rank prompts as real users do, in "
            f"{counted(len(tested), 'test')} [rank_agreement]."
        )
    else:
        best = max(shown, key=lambda r: r.tau_b or 0.0)
        head = (
            f"A condition is shown to rank prompts as real users do in {len(shown)} of "
            f"{counted(len(tested), 'test')}, best {_where(best, study)} (tau-b "
            f"{best.tau_b or 0.0:.2f}) [rank_agreement]."
        )
    return Section("Does it predict the field?", head, lines)


def _order(row: RankAgreement) -> str:
    by = f"{counted(row.n_ranked, row.over.removesuffix('s'))} by {_RANKED[row.measure]}"
    if row.tau_b is None or row.p_holm is None or row.rho is None:
        return f"no order of {by}, because {row.reason}"
    numbers = (
        f"tau-b {signed(row.tau_b, digits=2)} ({_range(row.tau_low, row.tau_high)}), "
        f"{p_text(row.p_holm)}, {row.n_discordant} of {counted(row.n_pairs, 'pair')} turned; "
        f"rho {signed(row.rho, digits=2)}{_ceiling(row)}"
    )
    if (row.p_least or 0.0) >= LEVEL:
        least = f"p cannot be below {row.p_least or 0.0:.2f} with so few, or so many ties"
        return f"no agreement on the order of {by} can be shown, as {least}: {numbers}"
    if not is_shown(row.p_holm):
        return f"no agreement on the order of {by} shown: {numbers}"
    turned = "the order" if row.tau_b > 0 else "the opposite order"
    return f"{turned} of the field for {by}: {numbers}"


def _range(low: float | None, high: float | None) -> str:
    return interval(low, high) if low is not None else "no interval"


def _ceiling(row: RankAgreement) -> str:
    if row.over != "items":
        return ""
    if row.ceiling is None:
        return ", with a ceiling that cannot be told, as answers are too few to rank prompts alike twice"
    return f" where {row.ceiling:.2f} is to be expected of one true order"


def _where(row: RankAgreement, study: Study) -> str:
    model = [study.models[row.model]] if row.model and len(study.models) > 1 else []
    return ", ".join([*model, study.label(row.predictor), row.task])


# ---- how near the answers are ------------------------------------------------------------------------


def near_the_field(rows: Sequence[ItemAgreement], study: Study) -> Section:
    """On how many prompts a condition's answers differ from the field's, and change place."""
    own = [r for r in rows if r.predictor in study.conditions and r.task in study.tasks]
    own = [r for r in own if r.model in study.models]
    own.sort(key=lambda r: list(study.conditions).index(r.predictor))
    arms = list(groups(own, lambda r: (r.model, r.task, r.kind, r.predictor)))
    lines = [f"{_arm(arm[0], study)}: {_near(arm)} [item_agreement]" for arm in arms]
    tested = [r for r in own if r.p_holm is not None]
    shown = [r for r in tested if is_shown(r.p_holm)]
    head = (
        f"Answers differ from real users' in {len(shown)} of {counted(len(tested), 'pair')} of prompt "
        "and condition [item_agreement]."
        if tested
        else "No answers can be compared with real users' [item_agreement]."
    )
    return Section("How near to the field", head, lines)


def _near(arm: Sequence[ItemAgreement]) -> str:
    tested = [r for r in arm if r.p_holm is not None and r.js_distance is not None]
    if not tested:
        return f"no distance, because {arm[0].reason}"
    far = [r for r in tested if is_shown(r.p_holm)]
    most = max(tested, key=lambda r: r.js_distance or 0.0)
    told = (
        f"answers to {len(far)} of {counted(len(tested), 'prompt')} differ"
        if far
        else f"no difference shown on any of {counted(len(tested), 'prompt')}"
    )
    told += (
        f"; furthest {literal(most.item_id)}, Jensen-Shannon distance {most.js_distance or 0.0:.2f} "
        f"where chance gives {most.js_expected_same or 0.0:.2f}"
    )
    moved = [r for r in tested if is_shown(r.p_rank_holm) and r.rank_change]
    ranked = [r for r in tested if r.p_rank_holm is not None]
    if ranked:
        names = f" ({', '.join(literal(r.item_id) for r in moved)})" if moved else ""
        told += f"; {len(moved)} of {len(ranked)} change place beyond chance{names}"
    same = [r for r in tested if r.is_same_top]
    return f"{told}; the commonest answer is the same on {len(same)} ({percent(len(same) / len(tested))})"


def _arm(row: ItemAgreement, study: Study) -> str:
    model = [study.models[row.model]] if len(study.models) > 1 else []
    return ", ".join([*model, study.label(row.predictor), row.task])


def _told(rows: Sequence[GroupDifference], study: Study) -> list[GroupDifference]:
    """Rows of the study's models and tasks, in its order."""
    kept = [r for r in rows if r.model in study.models and r.task in study.tasks]
    models, tasks = list(study.models), list(study.tasks)
    return sorted(kept, key=lambda r: (models.index(r.model), tasks.index(r.task)))
