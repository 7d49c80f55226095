"""One stage of a study from requests to figures: the workflow's own scripts over tables made here.

    python study_step.py STEP FOLDER SCALE RESULT

The study: nine recommendations asked `40 x SCALE` times and 25 multiple-choice questions asked
`5 x SCALE` times, each blank and after histories, of the embedded model. The histories are those of
the sample conversations over and over, so that encoding them does not weigh.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.arguments import typed_value
from fieldwork.config.drawn import FIGURES
from fieldwork.config.metric_steps import METRIC_STEPS
from fieldwork.measures import question_names
from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.puppets.contexts import context_id, estimate_tokens
from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.records.puppets import Context, Conversation
from fieldwork.sections.asking import NameRules, ValueRules
from fieldwork.sections.corpora import FiltersSection
from fieldwork.tasks.own_items import TaskSource
from figures import plot
from generation import generate_responses, plan_requests
from metrics import (
    measure,
    measure_claims,
    measure_practice,
    measure_ranks,
    measure_service,
    measure_tables,
)
from parsing import canonicalise_answers, parse_answers
from report import build_database, write_findings
from tasks import prepare_task

ROOT = Path(__file__).resolve().parents[3]
MODEL = "embedded"
ENTRY: dict[str, Any] = {
    "provider": "embedded",
    "label": "Embedded",
    "encoder": "all-MiniLM-L6-v2",
    "sharpness": 40,
    "context_weight": 0.3,
}
"""A sentence encoder answers: it costs next to nothing, so that the rest of a study is measured."""
TASKS = {"recommendations": 40, "mmlu_lite": 5}
CONDITIONS = ("offline", "history")
HISTORIES = 20
SEED = 2509
PERMUTATIONS = 1_999
RAREST_USERS = 0.05
BOARD = str(ROOT / "resources/helm_lite_mmlu.csv")
MEASURED = ("comparisons", "variance", "distributions", "shifts", "rarefaction")
"""Steps that only make tables of answers."""
FINDINGS = ("variance", "comparisons", "shifts", "lists", "accuracy")
RULES: dict[str, Any] = {
    "primary": [{"measure": "share_who"}, {"measure": "entropy_bits"}, {"measure": "score"}],
    "margins": {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1},
    "users": ["history"],
    "controls": [],
}
DRAWING: dict[str, Any] = {
    "model_labels": {MODEL: "Embedded"},
    "condition_labels": {"offline": "Offline", "history": "SP-History"},
    "conditions": ["offline", "history"],
}


class Study:
    """A study in a folder, `scale` times as large as the smallest."""

    def __init__(self, folder: Path, scale: int) -> None:
        self._folder, self._scale = folder, scale

    @property
    def n_requests(self) -> int:
        """Requests of the study, once they are planned."""
        return sum(len(tables.read_arrow(self._table("requests", *arm))) for arm in self._arms())

    def steps(self) -> dict[str, Callable[[], None]]:
        """What is measured, in this order; what only makes tables is named after its tables' step."""
        measures = {f"measure_{name}": partial(self._measure, name) for name in MEASURED}
        return {
            "plan_requests": self.plan_requests,
            "generate_responses": self.generate_responses,
            "parse_answers": self.parse_answers,
            "canonicalise_answers": self.canonicalise_answers,
            "measure_lists": self.measure_lists,
            "measure_form": self.measure_form,
            **measures,
            "measure_accuracy": self.measure_accuracy,
            "measure_scores": self.measure_scores,
            "measure_claims": self.measure_claims,
            "plot_figures": self.plot_figures,
        }

    def prepare(self) -> None:
        """Items and histories; not measured."""
        for task in TASKS:
            prepare_task.main(self._sources(task), steps=[], questions=self._items(task))
        sample, corpus = ROOT / "resources/sample/conversations.parquet", self._folder / "c.parquet"
        everything = FiltersSection(min_user_turns=1, exclude_toxic=False, exclude_redacted=False)
        prepare_corpus([sample], format="wildchat", filters=everything, out=corpus)
        talks = tables.read_rows(corpus, Conversation)[:HISTORIES]
        made = [
            Context(
                context_id(talk.messages),
                f"puppet-{number:06d}",
                None,
                [talk.conversation_id],
                talk.messages,
                estimate_tokens(talk.messages),
                0,
            )
            for number in range(max(TASKS.values()) * self._scale)
            for talk in [talks[number % len(talks)]]
        ]
        for task, runs in TASKS.items():
            rows = made[: runs * self._scale]
            tables.write_rows(self._table("contexts", task, "history"), rows, Context)

    def plan_requests(self) -> None:
        """Who is asked what."""
        for task, condition in self._arms():
            contexts = self._contexts(task, condition)
            n_times = 2 if contexts else TASKS[task] * self._scale
            arm = {"task": task, "condition": condition, "replicates": n_times, "first": 0}
            requests = [self._table("requests", task, condition)]
            plan_requests.main([self._items(task)], contexts, [], requests, [arm], primary={})

    def generate_responses(self) -> None:
        """Ask, or find in the ledger."""
        generate_responses.LEDGERS = self._folder / "ledger"
        # of all scales together: a text is encoded once
        generate_responses.ANSWER_VECTORS = self._folder.parent / "vectors.sqlite"
        for task, condition in self._arms():
            generate_responses.main(
                requests=self._table("requests", task, condition),
                questions=self._items(task),
                contexts=self._contexts(task, condition),
                responses=self._table("responses", task, condition),
                arm={
                    "model": MODEL,
                    "task": task,
                    "condition": condition,
                    "temperature": 1.0,
                    "max_tokens": 512,
                    "seed": SEED,
                },
                settings=ENTRY,
                generation={"attempts": 5, "budget_usd": None, "max_unreadable": 1.0},
                prices={},
            )

    def parse_answers(self) -> None:
        """Read every answer."""
        for task in TASKS:
            arms = [arm for arm in self._arms() if arm[0] == task]
            parse_answers.main(
                [self._table("responses", *arm) for arm in arms],
                self._items(task),
                overrides=[],
                value_rules=ValueRules(),
                answers=[self._table("parsed", *arm) for arm in arms],
                forms=[self._table("forms", *arm) for arm in arms],
            )

    def canonicalise_answers(self) -> None:
        """Merge spellings over all answers."""
        canonicalise_answers.main(
            parsed_answers=[self._table("parsed", *arm) for arm in self._arms()],
            field=[],
            aliases=[str(ROOT / "resources/tasks/aliases.csv")],
            overrides=[],
            answers=self._path("answers.parquet"),
            merges=self._path("items.csv"),
            questions=[],
            naming=NameRules(),
            smallest_cell=5,
        )

    def measure_lists(self) -> None:
        """How varied lists are, with intervals; which options they name."""
        self._estimate("lists", [self._path("answers.parquet")])
        self._measure("item_shares")

    def measure_form(self) -> None:
        """How long the answers are, and how hard to read."""
        self._estimate("form", [self._table("forms", *arm) for arm in self._arms()])

    def measure_accuracy(self) -> None:
        """Scores of runs."""
        self._measure("accuracy_runs")
        self._estimate("accuracy", [self._path("accuracy_runs.pq")])

    def measure_scores(self) -> None:
        """Prices of scores, places, practice, categories of subjects."""
        runs = self._path("accuracy_runs.pq")
        places = self._metric("ranks")
        measure_ranks.main(runs, [BOARD], ["mmlu_lite"], baseline="offline", names={}, **places)
        names = ("practice", "practice_turns", "practice_drops")
        measure_practice.main(
            runs,
            variants={},
            steps={},
            controls=[],
            rarest_users=RAREST_USERS,
            baseline="offline",
            permutations=PERMUTATIONS,
            seed=SEED,
            **{name: self._file(name) for name in names},
        )
        self._measure("categories")
        measure_service.main(
            [self._table("responses", *arm) for arm in self._arms()],
            [],
            [self._items(task) for task in TASKS],
            self._file("accuracy"),
            baseline="offline",
            rarest_users=RAREST_USERS,
            **self._metric("service") | self._metric("trade_offs"),
        )

    def measure_claims(self) -> None:
        """Every test of the tables above, corrected."""
        names = (*FINDINGS, "novelty", "score_spreads", "categories")
        measure_claims.main(
            [self._file(name) for name in names],
            [self._table("responses", *arm) for arm in self._arms()],
            rules=typed_value(RULES, ClaimRules),
            **self._metric("claims"),
        )

    def plot_figures(self) -> None:
        """All five, the findings and the database."""
        for number in range(1, 6):
            self._draw(f"fig{number}")
        self._findings({name: RULES[name] for name in ("users", "controls")})
        answers = self._path("answers.parquet")
        inputs: dict[str, str | list[str]] = {"answers": answers, "questions": [], "metrics": []}
        build_database.main(inputs, [self._file("lists")], self._path("study.duckdb"))

    def _draw(self, name: str) -> None:
        figure = FIGURES[name]
        task = "mmlu_lite" if name in ("fig2", "fig3") else "recommendations"
        inputs: dict[str, Any] = {table: self._file(table) for table in figure.tables}
        inputs |= {"leaderboard": [BOARD]} if name == "fig3" else {}
        inputs |= {"claims": self._path("claims.pq")} if figure.has_claims else {}
        inputs |= {"questions": [self._items(task)]} if figure.questions else {}
        drawing = DRAWING | {"task": task}
        drawing |= {"users": RULES["users"]} if name == "fig4" else {}
        plot.main(
            inputs,
            str(ROOT / "resources/figures.mplstyle"),
            [self._path(f"{name}.pdf")],
            self._path(f"{name}.marks.pq"),
            name,
            drawing,
        )

    def _estimate(self, question: str, source: list[str]) -> None:
        measure.main(
            [question],
            inputs={"source": source, "participants": []},
            outputs={question: self._file(question)},
            settings={"baseline": "offline", "rarest_users": RAREST_USERS, "seed": SEED},
        )

    def _measure(self, step: str) -> None:
        """The tables of a step."""
        files = {
            "answers": self._path("answers.parquet"),
            "questions": [self._items(task) for task in TASKS],
            "subject_categories": str(ROOT / "resources/categories.csv"),
        }
        settings: dict[str, Any] = {
            "baseline": "offline",
            "control": None,
            "reruns": {},
            "n_permutations": PERMUTATIONS,
            "rarest_users": RAREST_USERS,
            "seed": SEED,
        }
        declared = METRIC_STEPS[step]
        # as in the workflow, where the name `items` is taken
        names = ["questions" if name == "items" else name for name in declared.inputs]
        measure_tables.main(
            files,
            {table: self._file(table) for table in declared.functions},
            [{"functions": declared.functions, "inputs": names, "settings": declared.settings}],
            settings,
        )

    def _findings(self, arms: Mapping[str, list[str]]) -> None:
        names = (*FINDINGS, "novelty", "score_spreads", "ranks", "categories")
        more = ("list_lengths", "claims")
        labels = {"models": DRAWING["model_labels"], "conditions": DRAWING["condition_labels"]}
        study: dict[str, Any] = {
            "name": "scale",
            "tasks": list(TASKS),
            "baseline": "offline",
            **labels,
            **arms,
        }
        study |= {"notes": [], "rarest_users": RAREST_USERS}
        write_findings.main(
            answers=self._path("answers.parquet"),
            responses=[self._table("responses", *arm) for arm in self._arms()],
            metrics=[self._file(name) for name in (*names, *more)],
            questions=[self._items(task) for task in TASKS],
            quality=[],
            findings=self._path("findings.md"),
            figures=[],
            study=study,
            preregistrations=[],
            hashes=[],
            config={},
        )

    def _arms(self) -> list[tuple[str, str]]:
        return [(task, condition) for task in TASKS for condition in CONDITIONS]

    def _sources(self, task: str) -> list[TaskSource]:
        if task == "recommendations":
            return [
                TaskSource(
                    format="items",
                    dataset=task,
                    kind="list",
                    files=[str(ROOT / "resources/tasks/recommendations.csv")],
                    candidates=str(ROOT / "resources/tasks/candidates.csv"),
                )
            ]
        files = [*map(str, sorted((ROOT / "resources/sample/mmlu").rglob("*.csv")))]
        return [TaskSource(format="mmlu", dataset="sample_mmlu", shots=5, files=files)]

    def _path(self, name: str) -> str:
        return str(self._folder / name)

    def _items(self, task: str) -> str:
        return self._path(f"{task}.parquet")

    def _table(self, stage: str, task: str, condition: str) -> str:
        return self._path(f"{stage}/{task}/{condition}.parquet")

    def _contexts(self, task: str, condition: str) -> list[str]:
        return [self._table("contexts", task, condition)] if condition == "history" else []

    def _metric(self, name: str) -> dict[str, str]:
        return {name: self._file(name)}

    def _file(self, name: str) -> str:
        """Of a table, or of what answers a question."""
        folder = "metrics/estimates/" if name in question_names() else ""
        return self._path(f"{folder}{name}.pq")


def main() -> None:
    """Do one step."""
    step, folder, scale, result = sys.argv[1:]
    study = Study(Path(folder), int(scale))
    if step == "plan_requests":
        study.prepare()
    begun = time.perf_counter()
    study.steps()[step]()
    seconds = time.perf_counter() - begun
    n_bytes = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    measured = {"seconds": seconds, "rows": study.n_requests, "out_bytes": n_bytes}
    Path(result).write_text(json.dumps(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
