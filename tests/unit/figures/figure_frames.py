"""Tidy frames as the metrics write them, without chance; what a reader sees of a figure."""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from typing import Any
from unittest.mock import patch

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from fieldwork.records.arms import ArmMeasure, ArmTest
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import AnswerShare, Rank, Rarefaction, RunAccuracy, Shift
from fieldwork.records.shared import ItemKey, Leaderboard, LeaderboardPlace
from fieldwork.records.tasks import Item, ItemKind

CONDITIONS = ("offline_t0", "offline", "history", "rag", "profile", "field")
USERS = CONDITIONS[2:]
EXTRA = ("history_50", "history_100", "rag_10", "noisy", "drift", "attributes")
PROMPTS = ("companies", "films", "academic_majors")

Place = tuple[str, str, str]


def table_of(row_type: Any, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows of a type; what a row does not say is its default, or NULL; other columns stay."""
    blank = {
        column.name: None if column.default is MISSING else column.default
        for column in fields(row_type)
    }
    table = [blank | {**row} for row in rows]
    return pd.DataFrame(table, columns=None if table else [*blank])


def heterogeneity(
    models: Sequence[str] = ("alpha", "beta"),
    conditions: Sequence[str] = CONDITIONS,
    items: Sequence[str] = PROMPTS,
    nulls: Collection[Place] = (),
) -> pd.DataFrame:
    """Every combination and means over items; a (model, condition, item) in `nulls` has no estimate."""
    rows = []
    places = itertools.product(enumerate(models), enumerate(conditions), enumerate([*items, None]))
    for (m, model), (c, condition), (i, item) in places:
        keys = {"model": model, "task": "recommendations", "condition": condition, "item_id": item}
        keys |= {"n_answers": 50 + c, "n_equal": 40 + i}
        share = 0.4 + 0.02 * c
        measures = {"unique_items": 10.0 + c, "entropy_bits": 3.0 + 0.2 * (c + m)}
        measures |= {"top5_share": share, "one_minus_top5_share": share}
        for measure, start in measures.items():
            value = start - 0.1 * i
            estimate = {"value": value, "ci_low": value - 0.05, "ci_high": value + 0.05}
            why = {"reason": "too few"} if (model, condition, item) in nulls else estimate
            rows.append(keys | {"measure": measure} | why)
    return table_of(Estimate, rows)


def questions(
    task: str, texts: Mapping[str, str], choices: Sequence[str] = (), gold: str | None = None
) -> dict[ItemKey, Item]:
    """Items of a task by their ids, of kind choice where they have choices."""
    kind: ItemKind = "choice" if choices else "list"
    return {
        ItemKey(task, i): Item(i, kind, text, text, list(choices), gold, None, "test")
        for i, text in texts.items()
    }


ITEMS = (("mmlu_pair", "medicine_1", "ABCD", "C"), ("ethics_pair", "justice_1", "AB", "A"))


def distributions(
    models: Sequence[str] = ("alpha", "beta"), conditions: Sequence[str] = CONDITIONS
) -> pd.DataFrame:
    """Half of 40 answers are the gold letter, 4 are unknown, the rest goes round the letters."""
    rows = []
    for model, condition, of in itertools.product(models, conditions, ITEMS):
        task, item, letters, gold = of
        keys = {"model": model, "task": task, "condition": condition, "item_id": item}
        counts = dict.fromkeys(letters, 16 // (len(letters) - 1)) | {gold: 20}
        for answer, n in (counts | {"unknown": 4}).items():
            share = {"share": n / 40, "ci_low": max(0.0, n / 40 - 0.1), "ci_high": n / 40 + 0.1}
            sizes = {"n_answers": n, "n_responses": 40, "n_units": 40}
            rows.append(keys | share | sizes | {"answer": answer, "is_correct": answer == gold})
    return table_of(AnswerShare, rows)


def run_scores(
    centres: Mapping[str, float], conditions: Sequence[str] = CONDITIONS[:5]
) -> pd.DataFrame:
    """Ten runs a condition, further apart from condition to condition."""
    rows = []
    places = itertools.product(centres.items(), enumerate(conditions), range(10))
    for (model, centre), (c, condition), run in places:
        score = centre + 0.002 * c * (run - 5) / 10
        keys = {"model": model, "task": "mmlu_helm", "condition": condition, "run": run}
        scores = {"em_strict": score, "em_flexible": score + 0.01, "format_failure": 0.01}
        sizes = {"replicate": run, "n_items": 514, "n_subjects": 5, "is_counted": True}
        rows.append(keys | scores | sizes)
    return table_of(RunAccuracy, rows)


def spreads(runs: pd.DataFrame, nulls: Collection[tuple[str, str]] = ()) -> pd.DataFrame:
    """`Estimate` rows of `run_scores`; a (model, condition) in `nulls` has no estimate."""
    rows = []
    for (model, condition), group in runs.groupby(["model", "condition"], sort=False):
        keys = {"model": model, "task": "mmlu_helm", "condition": condition, "unit": "puppet"}
        keys |= {"reference": "baseline", "n_items": 514}
        for measure in ("em_strict", "em_flexible", "format_failure"):
            estimate: dict[str, Any] = {
                "value": float(group[measure].mean()),
                "n_units": len(group),
            }
            if (model, condition) in nulls:
                estimate = {"n_units": 0, "reason": "no complete run"}
            rows.append(keys | {"measure": measure} | estimate)
    return table_of(Estimate, rows).astype({"ci_low": float, "ci_high": float})


def ranks(spread: pd.DataFrame) -> pd.DataFrame:
    """`Rank` rows of `spreads`: places 3 to 6, and a chance of .8 with users and .4 with reruns."""
    rows = []
    for row in spread[spread["measure"] != "format_failure"].itertuples():
        places = (None,) * 6 if pd.isna(row.value) else (3, 4.5, 6, 4, 0.8, 0.4)
        keys = (row.model, row.task, row.condition, "offline", row.measure, "Board", 6)
        rank = Rank(*keys, *places, 0.4, 4, 0.7, row.n_units, 514, row.unit, None)
        rows.append(asdict(rank))
    return table_of(Rank, rows)


def leaderboard() -> pd.DataFrame:
    scores = (0.809, 0.803, 0.799, 0.795, 0.772, 0.77)
    names = [f"a model of a rather long name {i}" for i in range(len(scores))]
    return pd.DataFrame({"rank": range(1, 7), "model": names, "score": scores})


def board(rows: pd.DataFrame) -> Leaderboard:
    """The leaderboard of rows with the columns rank, model and score."""
    places = [LeaderboardPlace(*row) for row in rows[["rank", "model", "score"]].values]
    return Leaderboard("the leaderboard", "board.csv", places)


def texts(figure: Figure) -> list[Text]:
    """Texts a reader sees: those that drawing the figure draws."""
    texts_by_id: dict[int, Text] = {}
    draw = Text.draw

    def note(text: Text, *args: Any, **keywords: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            texts_by_id[id(text)] = text
        draw(text, *args, **keywords)

    with patch.object(Text, "draw", note):
        figure.draw_without_rendering()
    return list(texts_by_id.values())


def words(figure: Figure) -> str:
    """All texts, found without drawing."""
    texts = (t for t in figure.findobj(Text) if t.get_visible())
    return "\n".join(t.get_text() for t in texts)


def lines_with_label(figure: Figure, label: str) -> list[Any]:
    """The marks of a condition or a model, one line of points a panel."""
    return [line for axes in figure.axes for line in axes.lines if line.get_label() == label]


def texts_cut_off(figure: Figure) -> list[str]:
    """Texts that reach over the edge of the figure."""
    return _over_the_edge(figure, texts(figure))


def _over_the_edge(figure: Figure, drawn_texts: Sequence[Text]) -> list[str]:
    page = figure.bbox.padded(0.5)
    boxes = [(t.get_text(), t.get_window_extent()) for t in drawn_texts]
    return [
        text
        for text, box in boxes
        if box.x0 < page.x0 or box.y0 < page.y0 or box.x1 > page.x1 or box.y1 > page.y1
    ]


def _head_overlaps(figure: Figure) -> bool:
    """True where a note, the legend and the panels are not in separate strips, top to bottom."""
    strips = [t.get_window_extent() for t in figure.texts if t.get_style() == "italic"]
    strips += [legend.get_window_extent() for legend in figure.legends]
    panels = [a.get_tightbbox() for a in figure.axes]
    floors = [*(box.y0 for box in strips)]
    ceilings = [*(box.y1 for box in strips[1:]), max(box.y1 for box in panels if box is not None)]
    return any(top > floor + 0.5 for floor, top in zip(floors, ceilings, strict=True))


def assert_readable(figure: Figure, *, inches: float = 99.0) -> None:
    """Everything is on the page, in type of 7 points or more, and nothing of the head is covered."""
    drawn_texts = texts(figure)
    assert _over_the_edge(figure, drawn_texts) == []
    assert [text.get_text() for text in drawn_texts if text.get_fontsize() < 7] == []
    assert not _head_overlaps(figure)
    assert figure.get_figheight() <= inches


def arm_rows(lengths: dict[str, int | None], models: Sequence[str] = ("alpha",)) -> pd.DataFrame:
    """`ArmMeasure` rows of a task of lists and one of letters; offline has no distance and no share."""
    rows = []
    tasks = (("recommendations", "list", "entropy_bits"), ("mmlu", "choice", "em_strict"))
    places = itertools.product(tasks, models, enumerate(lengths.items()))
    for (task, kind, last), model, (place, (condition, n_asked)) in places:
        keys = {"model": model, "task": task, "kind": kind, "position": place, "n_items": 9}
        keys |= {"condition": condition, "asked": n_asked, "n_responses": 360, "n_puppets": 0}
        n, is_offline = float(n_asked or 0), condition == "offline"
        if not is_offline:
            keys |= {
                "conversations": 0.9 * n,
                "dropped": 0.1 * n,
                "tokens": 300 * n,
                "n_puppets": 20,
            }
        for measure in ("excess_js_bits", "share_who", last):
            estimate: dict[str, Any] = {
                "estimate": 0.1 + 0.02 * place,
                "ci_low": 0.05,
                "ci_high": 0.25,
            }
            if measure == "excess_js_bits":
                estimate["n_different"] = 2
            if is_offline and measure != last:
                estimate = {"reason": "nobody asks"}
            rows.append(keys | {"measure": measure} | estimate)
    return table_of(ArmMeasure, rows)


def arm_trends() -> pd.DataFrame:
    """`ArmTest` rows: trends of model alpha, one without a value."""
    measures = {"from_baseline": 0.3, "share_who": 0.004, "var_answers": None, "em_strict": 0.02}
    keys = {"model": "alpha", "test": "trend", "condition": "history_1", "other": "history_100"}
    keys |= {"n_items": 9, "n_puppets": 20, "n_puppets_other": 20, "unit": "within puppet"}
    numbers = ("estimate", "ci_low", "ci_high", "p_value", "p_holm")
    tasks = (("recommendations", "list"), ("mmlu", "choice"))
    rows = [
        keys | {"task": task, "kind": kind, "measure": measure} | dict.fromkeys(numbers, p)
        for (task, kind), (measure, p) in itertools.product(tasks, measures.items())
    ]
    return table_of(ArmTest, rows)


def shifts(
    models: Sequence[str] = ("alpha", "beta"),
    conditions: Sequence[str] = USERS,
    n_options: int = 20,
    nulls: Collection[tuple[str, str]] = (),
) -> pd.DataFrame:
    """Option k falls by 3 k points, shown to differ in the last condition; `nulls` have no share."""
    rows = []
    baseline = {"baseline": "offline", "baseline_share": 0.9, "baseline_ci_low": 0.8}
    baseline |= {"baseline_ci_high": 0.95, "n_named_baseline": 36, "n_baseline": 40}
    places = itertools.product(models, enumerate(conditions), range(n_options))
    for model, (c, condition), k in places:
        keys = {"model": model, "task": "recommendations", "condition": condition, "kind": "list"}
        keys |= {
            "item_id": PROMPTS[k % 3],
            "answer": f"option {k}",
            "unit": "puppet",
            "n_named": 20,
        }
        share, p = 0.9 - 0.03 * k - 0.005 * c, 0.001 if c == len(conditions) - 1 else 0.5
        estimate: dict[str, Any] = {"share": share, "shift": share - 0.9, "n_answers": 50 + c}
        estimate |= {
            "share_ci_low": share - 0.1,
            "share_ci_high": share + 0.1,
            "n_family": n_options,
        }
        estimate |= {"ci_low": share - 1, "ci_high": share - 0.8, "p_value": p, "p_corrected": p}
        if (model, condition) in nulls:
            reason = {"n_answers": 0, "n_family": 0, "reason": "no answer can be read"}
            estimate = dict.fromkeys(estimate) | reason
        rows.append(keys | baseline | estimate)
    return table_of(Shift, rows)


def rarefaction(
    models: Sequence[str] = ("alpha", "beta"),
    conditions: Sequence[str] = CONDITIONS,
    items: Sequence[str] = PROMPTS,
    nulls: Collection[Place] = (),
) -> pd.DataFrame:
    """Curves of 10 answers, in the last condition of 25; a (model, condition, item) can have none."""
    rows = []
    for model, condition, item in itertools.product(models, conditions, (None, *items)):
        n = 25 if condition == conditions[-1] else 10
        row = {"model": model, "task": "recommendations", "condition": condition, "item_id": item}
        row |= {"n_items": 1 if item else len(items), "n_unread": 0}
        if any((model, condition, one) in nulls for one in ([item] if item else items)):
            reason = "none of 10 answers gives an option"
            rows.append(row | {"n_answers": 0, "n_responses": 0, "reason": reason})
        else:
            points = ({"n_answers": m, "unique_items": 5 + m**0.5} for m in range(1, n + 1))
            rows += [row | {"n_responses": n} | point for point in points]
    return table_of(Rarefaction, rows)


def calibrations(models: Sequence[str] = ("alpha",)) -> pd.DataFrame:
    """Arms, equal weights, the field itself; weights of conditions that hold, of puppets that do not."""
    rows: list[dict[str, Any]] = []
    bounds = {"excess_low": 0.01, "excess_high": 0.03, "gain_bits": 0.02, "ci_low": 0.01}
    bounds |= {"ci_high": 0.03, "split_low": 0.02, "split_high": 0.04}
    for model, of in itertools.product(models, (None, "history")):
        keys = {"model": model, "level": "puppets" if of else "conditions", "puppets_of": of}
        for comparator, arm, js_bits in (
            *(("arm", "offline", 0.05), ("arm", "history", 0.07)),
            *(("equal", None, 0.05), ("field", None, 0.05)),
        ):
            row = {"comparator": comparator, "arm": arm, "js_bits": js_bits}
            rows.append(keys | bounds | row | {"is_best": arm == "offline"})
        weights = {"comparator": "calibrated", "js_bits": 0.03, "in_sample_bits": 0.025}
        weights |= {"arm": None, "excess_low": -0.01, "excess_high": 0.01, "is_best": False}
        verdict = {"verdict": "no better", "reason": "too far"} if of else {"verdict": "calibrated"}
        rows.append(keys | weights | verdict)
    return pd.DataFrame(rows).assign(n_prompts=9, n_field=40, n_equal=18)
