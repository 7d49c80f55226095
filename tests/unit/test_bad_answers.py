"""Answers that give nothing to count, from the answers table to figures and findings.

Each case goes through the measuring and drawing scripts as a study would: no table may hold NaN, what
has no estimate has a reason, every figure is drawn and says what is missing, and the findings claim
nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from fieldwork import measures, tables
from fieldwork.arguments import typed_value
from fieldwork.config.drawn import FIGURES, figure_module
from fieldwork.config.metric_steps import METRIC_STEPS
from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.figures import style
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.parsing.form.readings import read_forms
from fieldwork.records.answer_form import FormReading
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item, ItemKind
from figures import plot
from metrics import (
    measure,
    measure_claims,
    measure_drift,
    measure_exactly,
    measure_practice,
    measure_ranks,
    measure_robustness,
    measure_service,
    measure_tables,
)
from report import write_findings
from unit.table_rows import answer_of, response_of, row_of

ROOT = Path(__file__).resolve().parents[2]
SHEET = str(ROOT / "resources" / "figures.mplstyle")
BOARD = str(ROOT / "resources" / "helm_lite_mmlu.csv")
SUBJECTS = str(ROOT / "resources" / "categories.csv")
CONDITIONS = {"offline": "Offline", "rag": "RAG", "profile": "Profile"}
USERS = ["rag", "profile"]
WAVES = {"rag": "2026-W40", "profile": "2026-W41"}
"""What is otherwise two conditions, as if the same had been asked again."""
N = 6


def answer(
    kind: ItemKind, condition: str, item: str, number: int, *, twice: bool = False
) -> Answer:
    """A list or a letter, by number; with a user each puppet answers twice."""
    puppet_id = None if condition == "offline" else f"p{number // (2 if twice else 1)}"
    replicate = number if puppet_id is None else number % 2 if twice else 0
    options = [f"o{(number * 3 + len(item)) % 7}", f"o{number % 4}"] if kind == "list" else None
    letter = "ABAC"[number % 4] if kind == "choice" else None
    keys = {"task": "lists" if kind == "list" else "letters", "condition": condition}
    keys |= {"item_id": item, "puppet_id": puppet_id, "replicate": replicate, "kind": kind}
    read = {"raw_items": options, "items": sorted(set(options)) if options else None}
    return answer_of(**keys, **read, letter_strict=letter, letter=letter)


def study() -> list[Answer]:
    """Two prompts and two questions, everything as it should be."""
    items: dict[str, ItemKind] = {"a": "list", "bb": "list", "q": "choice", "r": "choice"}
    return [
        answer(kind, condition, item, number, twice=condition != "offline")
        for item, kind in items.items()
        for condition in CONDITIONS
        for number in range(N * (1 if condition == "offline" else 2))
    ]


def refuse(row: Answer) -> Answer:
    """The same call without an answer."""
    empty = {"raw_items": None, "items": None, "letter": None, "letter_strict": None}
    return replace(row, outcome="refused", reason="refused", **empty)


def alike(row: Answer) -> Answer:
    """One answer of everybody."""
    if row.kind == "list":
        return replace(row, raw_items=["x"], items=["x"])
    return replace(row, letter="A", letter_strict="A")


def response(row: Answer) -> Response:
    """The call behind an answer, live and with a price; one that failed has neither."""
    keys = ("model", "task", "condition", "item_id", "puppet_id", "replicate", "outcome")
    call: dict[str, Any] = {key: getattr(row, key) for key in keys}
    call |= {"attempts": 1, "temperature_sent": True}
    if row.outcome != "failed":
        call |= {"input_tokens": 90, "cached_tokens": 0, "output_tokens": 9}
        call |= {"cost_usd": 0.001, "latency_s": 1.0 + row.replicate}
    text = "\n".join(f"- {option}" for option in row.raw_items or []) or row.letter
    return response_of(text, **call)


CASES: dict[str, Callable[[Answer], Answer | None]] = {
    "no answers": lambda _: None,
    "all refused": refuse,
    "an arm refused": lambda row: refuse(row) if row.condition == "rag" else row,
    "a cell failed": lambda row: (
        replace(refuse(row), outcome="failed") if (row.condition, row.item_id) == ("rag", "a") else row
    ),
    "no baseline": lambda row: None if row.condition == "offline" else row,
    "only the baseline": lambda row: row if row.condition == "offline" else None,
    "one answer of all": alike,
    "one answer a cell": lambda row: (
        row if row.replicate == 0 and row.puppet_id in (None, "p0") else None
    ),
}  # fmt: skip


CLAIM_RULES: dict[str, Any] = {
    "primary": [{"measure": "share_who"}, {"measure": "entropy_bits"}, {"measure": "score"}],
    "margins": {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1},
    "users": USERS,
    "controls": [],
}


VARIANTS = {f"{task}_{k}": task for task in ("letters", "lists") for k in (1, 2)}
GROUPS = {variant: f"group {variant[-1]}" for variant in VARIANTS}


class Run:
    """The measured tables of one case in a folder."""

    def __init__(self, folder: Path, rows: list[Answer]) -> None:
        self.folder = folder
        responses = [response(row) for row in rows]
        variants = [
            replace(row, task=variant)
            for row in rows
            for variant, task in {"letters": "letters", "lists": "lists", **VARIANTS}.items()
            if task == row.task
        ]
        for name, table, row_type in (
            ("answers", rows, Answer),
            ("responses/all", responses, Response),
            ("forms", read_forms(responses), FormReading),
            ("answers_to_variants", variants, Answer),
        ):
            tables.write_rows(self.path(name), table, row_type)
        for task in ("letters", "lists", *VARIANTS):
            is_list = task.startswith("lists")
            keys: Any = {"kind": "list" if is_list else "choice", "provenance": "test"}
            keys |= {"choices": [] if is_list else ["x", "y", "z"]}
            keys |= {} if is_list else {"gold": "A", "subject": "s"}
            items = [
                row_of(Item, item_id=name, question=name, prompt=name, **keys)
                for name in (("a", "bb") if is_list else ("q", "r"))
            ]
            tables.write_rows(self.path(task), items, Item)

    def path(self, name: str) -> str:
        return str(self.folder / f"{name}.parquet")

    def paths(self, *names: str) -> dict[str, str]:
        return {name: self.path(name) for name in names}

    def measure(self) -> None:
        out, draws = self.paths, {"permutations": 99, "seed": 1}
        users: dict[str, Any] = {"rarest_users": 0.05}
        tasks = [self.path("letters"), self.path("lists")]
        questions = {"questions": tasks}
        rows, runs = self.path("answers"), self.path("accuracy_runs")
        responses, accuracy = self.path("responses/all"), self.path("metrics/estimates/accuracy")
        inputs = {"answers": rows, **questions, "runs": runs, "subject_categories": SUBJECTS}
        settings = {"baseline": "offline", "control": None, "n_permutations": 99, "seed": 1}
        settings |= {"reruns": {}, "nests": {}, **users}
        for step in METRIC_STEPS.values():
            names = ["questions" if name == "items" else name for name in step.inputs]
            told = {"functions": step.functions, "inputs": names, "settings": step.settings}
            measure_tables.main(inputs, out(*step.functions), [told], settings)
        sources = {"answers": rows, "answers/forms": self.path("forms"), "accuracy_runs": runs}
        for name, question in measures.questions().items():
            measure.main(
                [name],
                {"source": [sources[question.source]], "participants": []},
                {name: self.path(f"metrics/estimates/{name}")},
                {"baseline": "offline", "users": USERS, "seed": 1, **users},
            )
        measure_service.main(
            [responses],
            first_token_tables=[],
            **questions,
            accuracy=accuracy,
            **out("service", "trade_offs"),
            baseline="offline",
            **users,
        )
        measure_ranks.main(runs, [BOARD], ["letters"], **out("ranks"), baseline="offline", names={})
        measure_practice.main(
            runs,
            **out("practice", "practice_turns", "practice_drops"),
            variants={},
            steps={},
            controls=[],
            baseline="offline",
            **draws,
            **users,
        )
        measure_robustness.main(
            self.path("answers_to_variants"),
            [*tasks, *map(self.path, VARIANTS)],
            **out("robustness", "group_gaps"),
            variants=VARIANTS,
            groups=GROUPS,
            chance=ChanceSettings(99, 1, **users),
        )
        measure_drift.main(
            rows,
            [self.path("forms")],
            [responses],
            **questions,
            **out("drift"),
            waves=WAVES,
            series=dict.fromkeys(WAVES, "rag"),
            seed=1,
        )
        measure_exactly.main(
            rows,
            **out("variance", "novelty", "comparisons", "exact_estimates"),
            accuracy=accuracy,
            letters=self.path("metrics/estimates/letters"),
            baseline="offline",
            seed=1,
            **users,
        )
        metrics = [str(path) for path in sorted(self.folder.glob("*.parquet"))]
        measure_claims.main(
            [*metrics, *self.estimates()],
            [],
            **out("claims"),
            rules=typed_value(CLAIM_RULES, ClaimRules),
        )

    def estimates(self) -> list[str]:
        return [self.path(f"metrics/estimates/{name}") for name in measures.questions()]

    def draw(self) -> None:
        files = {name: self.path(f"metrics/estimates/{name}") for name in ("lists", "accuracy")}
        files |= {"leaderboard": [BOARD]}
        drawing = {"model_labels": {"m": "Model"}, "condition_labels": CONDITIONS}
        users, waves = {"users": USERS}, {"waves": WAVES}
        further_settings = {"fig4": users, "who_asks": users, "drift": waves}
        for name in (*ALL, "categories", "drift"):
            figure, task = FIGURES[name], "letters" if name in ON_LETTERS else "lists"
            inputs = [*figure.tables, *["claims"] * figure.has_claims]
            inputs += ["leaderboard"] * (name == "fig3")
            questions = {"questions": [self.path(task)]} if figure.questions else {}
            has_task = figure.questions or name in ON_LETTERS
            settings = drawing | {"conditions": [*CONDITIONS]} | further_settings.get(name, {})
            plot.main(
                {one: files.get(one, self.path(one)) for one in inputs} | questions,
                SHEET,
                [str(self.folder / f"{name}.png")],
                self.path(f"{name}.marks"),
                figure_module(name),
                settings | ({"task": task} if has_task else {}),
            )

    def findings(self) -> str:
        names = ("variance", "comparisons", "shifts", "score_spreads", "ranks", "novelty")
        names += ("categories", "service", "drift", "claims")
        about = {
            "name": "s", "models": {"m": "Model"}, "tasks": ["lists", "letters"],
            "conditions": CONDITIONS, "baseline": "offline", "users": USERS, "controls": [],
            "rarest_users": 0.05, "notes": [],
        }  # fmt: skip
        page = self.folder / "findings.md"
        write_findings.main(
            answers=self.path("answers"),
            responses=[],
            metrics=[*map(self.path, names), *self.estimates()],
            questions=[self.path("lists"), self.path("letters")],
            quality=[],
            findings=str(page),
            figures=["fig1"],
            study=about,
            preregistrations=[],
            hashes=[],
            config={},
        )
        return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module", autouse=True)
def _one_database() -> Iterator[None]:
    """Hundreds of tables are sorted as they are written: here in one database, not each in its own."""
    with tables.open_database() as database, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "open_database", lambda: nullcontext(database.cursor()))
        yield


@pytest.fixture(scope="module", params=CASES)
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Run]:
    rows = [row for old in study() if (row := CASES[request.param](old)) is not None]
    run = Run(tmp_path_factory.mktemp("case"), rows)
    run.measure()
    return request.param, run


def test_no_table_holds_nan_and_every_null_has_a_reason(case: tuple[str, Run]) -> None:
    estimates = dict.fromkeys(("robustness", "group_gaps", "service"), "estimate")
    estimates |= dict.fromkeys(("variance",), "share_who")
    estimates |= dict.fromkeys(("subjects", "categories"), "var_who")
    estimates |= {
        "novelty": "share",
        "comparisons": "distance",
        "shifts": "shift",
        "drift": "value",
    }
    estimates |= {"rarefaction": "unique_items", "ranks": "rank_best", "practice": "rho"}
    estimates |= {"practice_turns": "is_beyond_chance", "practice_drops": "drop"}
    estimates |= {"trade_offs": "is_best"}
    for path in case[1].folder.rglob("*.parquet"):
        table = pq.read_table(path)
        for column in table.schema:
            if pa.types.is_floating(column.type):
                # the difference of NaN and of infinities to themselves is NaN
                odd = pc.is_nan(pc.subtract(table[column.name], table[column.name]))
                assert not pc.any(odd).as_py(), (path.stem, column.name)
        name = "value" if path.parent.name == "estimates" else estimates.get(path.stem)
        for column_name in (name, "ci_low") if path.stem == "robustness" else (name,):
            if column_name:
                silent = pc.and_(pc.is_null(table[column_name]), pc.is_null(table["reason"]))
                assert not pc.any(silent).as_py(), (path.stem, column_name)


ON_LETTERS = ("fig2", "fig3", "categories")
ALL = ("fig1", "fig2", "fig3", "fig4", "fig5", "who_asks", "pareto")
NO_SHIFT = {"fig4": "No share differs"}
EXPECTED_WORDS: dict[str, dict[str, str]] = {
    "no answers": dict.fromkeys(ALL, "no data"),
    "all refused": {"fig1": "n/a", "fig2": "no readable answer"}
    | dict.fromkeys(("fig4", "fig5"), "no data"),
    "an arm refused": dict.fromkeys(("fig1", "fig4", "fig5"), "n/a"),
    "a cell failed": dict.fromkeys(("fig1", "fig4", "fig5"), "n/a"),
    "no baseline": {"fig4": "no data"},
    "only the baseline": {"fig4": "no data"},
    "one answer of all": NO_SHIFT,
    "one answer a cell": NO_SHIFT,
}
"""What a reader must find in a figure."""


def test_every_figure_is_drawn_and_says_what_is_missing(
    case: tuple[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, run = case
    words: dict[str, str] = {}

    def keep_words(figure: Figure, paths: list[Path]) -> None:
        texts = (t.get_text() for t in figure.findobj(Text) if t.get_visible())
        words[Path(paths[0]).stem] = " ".join(" ".join(texts).split())

    monkeypatch.setattr(style, "save", keep_words)
    run.draw()
    assert "nan" not in words["categories"].lower()
    for figure in ALL:
        assert "nan" not in words[figure].lower().replace("financ", "")
        assert EXPECTED_WORDS[name].get(figure, "") in words[figure], (figure, words[figure])


CLAIMS = ("|differs|", "|rarer|", "|more common|", "|more varied|", "|less varied|")


def test_the_findings_claim_nothing(case: tuple[str, Run]) -> None:
    text = case[1].findings()
    assert not [wrong for wrong in ("nan", "None", "NULL") if wrong in text]
    # a question that is refused has another answer than one that is not: only lists claim nothing
    lists = [line for line in text.splitlines() if line.startswith("|lists")]
    assert not [line for line in lists if any(claim in line for claim in CLAIMS)]
    of_lists = [part for part in text.split("\n### ") if part.startswith(("a\n", "bb\n"))]
    assert not [part for part in of_lists if "**yes" in part]
    # places have a section where runs have scores
    has_places = bool(len(tables.read_frame(case[1].path("ranks"))))
    has_waves = bool(len(tables.read_frame(case[1].path("drift"))))
    assert text.count("\n### Places on the leaderboard\n") == has_places
    assert text.count("\n### The same questions after a time\n") == has_waves


def test_the_same_study_without_a_flaw_has_estimates(tmp_path: Path) -> None:
    """The cases above would pass on tables that are always empty."""
    run = Run(tmp_path, study())
    run.measure()
    forms = tables.read_frame(run.path("metrics/estimates/form"))
    assert forms[forms["measure"] == "words"]["value"].notna().all()
    for name, column in {
        "metrics/estimates/lists": "value",
        "comparisons": "distance",
        "shifts": "shift",
        "rarefaction": "unique_items",
    }.items():
        table = tables.read_frame(run.path(name))
        assert len(table)
        assert table[column].notna().all()
    section = run.findings().partition("\n### Heterogeneity\n")[2].partition("\n### ")[0]
    assert section.count("\n|lists|") == len(CONDITIONS)
