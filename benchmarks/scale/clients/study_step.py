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
from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.puppets.contexts import context_id, estimate_tokens
from fieldwork.puppets.corpus import prepare_corpus
from fieldwork.puppets.filters import Filters
from fieldwork.records.puppets import Context, Conversation
from figures import plot_fig1, plot_fig2, plot_fig3, plot_fig4, plot_fig5
from generation import generate_responses, plan_requests
from metrics import (
    measure_accuracy,
    measure_answer_form,
    measure_categories,
    measure_claims,
    measure_comparisons,
    measure_distributions,
    measure_heterogeneity,
    measure_practice,
    measure_prompt_means,
    measure_ranks,
    measure_rarefaction,
    measure_score_comparisons,
    measure_service,
    measure_shifts,
    measure_variance,
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
RAREST_PROMPTS = 0.45
BOARD = str(ROOT / "resources/helm_lite_mmlu.csv")
FINDINGS = ("variance", "comparisons", "shifts", "prompt_means")
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

    def prepare(self) -> None:
        """Items and histories; not measured."""
        for task in TASKS:
            prepare_task.main(self._sources(task), steps=[], questions=self._items(task))
        sample, corpus = ROOT / "resources/sample/conversations.parquet", self._folder / "c.parquet"
        prepare_corpus([sample], format="wildchat", filters=Filters(1), out=corpus)
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
            plan_requests.main(
                self._items(task),
                self._contexts(task, condition),
                [],
                self._table("requests", task, condition),
                TASKS[task] * self._scale,
                replicates=2,
                first=0,
                primary={},
            )

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
        for arm in self._arms():
            parse_answers.main(
                self._table("responses", *arm),
                self._items(arm[0]),
                overrides=[],
                value_rules={},
                answers=self._table("parsed", *arm),
                forms=self._table("forms", *arm),
            )

    def measure_answer_form(self) -> None:
        """How long the answers are, and how hard to read."""
        measure_answer_form.main(
            forms=[self._table("forms", *arm) for arm in self._arms()],
            participants=[],
            baseline="offline",
            rarest_users=RAREST_USERS,
            **self._metric("answer_form"),
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
            naming={"near_duplicates": 92, "cut_lists": True, "smallest_cell": 5},
        )

    def measure_heterogeneity(self) -> None:
        """With its intervals."""
        paths = self._metric("heterogeneity") | self._metric("item_shares")
        paths |= self._metric("list_lengths")
        answers = self._path("answers.parquet")
        measure_heterogeneity.main(answers=answers, rarest_users=RAREST_USERS, seed=SEED, **paths)

    def measure_comparisons(self) -> None:
        """With its permutations."""
        measure_comparisons.main(
            answers=self._path("answers.parquet"),
            baseline="offline",
            permutations=PERMUTATIONS,
            seed=SEED,
            **self._metric("comparisons"),
        )

    def measure_variance(self) -> None:
        """With its permutations."""
        measure_variance.main(
            rarest_users=RAREST_USERS,
            answers=self._path("answers.parquet"),
            baseline="offline",
            permutations=PERMUTATIONS,
            seed=SEED,
            **self._metric("variance"),
        )

    def measure_distributions(self) -> None:
        """Shares of answers."""
        paths = self._metric("distributions") | self._metric("novelty")
        answers, items = self._path("answers.parquet"), [self._items(task) for task in TASKS]
        measure_distributions.main(
            rarest_users=RAREST_USERS,
            answers=answers,
            questions=items,
            baseline="offline",
            control=None,
            permutations=PERMUTATIONS,
            seed=SEED,
            **paths,
        )

    def measure_accuracy(self) -> None:
        """Scores of runs."""
        paths = self._metric("accuracy_runs") | self._metric("accuracy")
        answers, items = self._path("answers.parquet"), [self._items(task) for task in TASKS]
        measure_accuracy.main(answers=answers, questions=items, rarest_users=RAREST_USERS, **paths)

    def measure_scores(self) -> None:
        """Scores beside the baseline's and prices, places, practice, categories of subjects."""
        runs, draws = self._path("accuracy_runs.pq"), {"permutations": PERMUTATIONS, "seed": SEED}
        measure_score_comparisons.main(
            runs,
            rarest_users=RAREST_USERS,
            baseline="offline",
            **self._metric("score_comparisons"),
            **draws,
        )
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
            **{name: self._path(f"{name}.pq") for name in names},
            **draws,
        )
        measure_categories.main(
            answers=self._path("answers.parquet"),
            questions=[self._items(task) for task in TASKS],
            subject_categories=str(ROOT / "resources/categories.csv"),
            **self._metric("subjects") | self._metric("categories"),
            **draws,
        )

        measure_service.main(
            [self._table("responses", *arm) for arm in self._arms()],
            [],
            [self._items(task) for task in TASKS],
            self._path("accuracy.pq"),
            baseline="offline",
            rarest_users=RAREST_USERS,
            **self._metric("service") | self._metric("trade_offs"),
        )

    def measure_shifts(self) -> None:
        """Of every option."""
        answers = self._path("answers.parquet")
        measure_shifts.main(answers, baseline="offline", **self._metric("shifts"))

    def measure_rarefaction(self) -> None:
        """Curves, and means over prompts."""
        answers = self._path("answers.parquet")
        measure_rarefaction.main(answers, **self._metric("rarefaction"))
        measure_prompt_means.main(
            answers,
            rarest_users=RAREST_USERS,
            rarest_prompts=RAREST_PROMPTS,
            baseline="offline",
            seed=SEED,
            **self._metric("prompt_means"),
        )

    def measure_claims(self) -> None:
        """Every test of the tables above, corrected."""
        names = (*FINDINGS, "novelty", "score_comparisons", "categories")
        measure_claims.main(
            [self._path(f"{name}.pq") for name in names],
            [self._table("responses", *arm) for arm in self._arms()],
            rules=RULES,
            **self._metric("claims"),
        )

    def plot_figures(self) -> None:
        """All five, the findings and the database."""
        sheet = str(ROOT / "resources/figures.mplstyle")
        heterogeneity, distributions = (
            self._path("heterogeneity.pq"),
            self._path("distributions.pq"),
        )
        lists, letters = "recommendations", "mmlu_lite"
        listed, lettered = self._items(lists), self._items(letters)
        on_lists, on_letters = DRAWING | {"task": lists}, DRAWING | {"task": letters}
        plot_fig1.main(heterogeneity, listed, sheet, *self._drawing("fig1"), on_lists)
        plot_fig2.main(distributions, lettered, sheet, *self._drawing("fig2"), on_letters)
        plot_fig3.main(
            self._path("accuracy_runs.pq"),
            self._path("accuracy.pq"),
            self._path("ranks.pq"),
            [BOARD],
            sheet,
            *self._drawing("fig3"),
            on_letters,
        )
        arms = {name: RULES[name] for name in ("users", "controls")}
        shifts, curves = self._path("shifts.pq"), self._path("rarefaction.pq")
        with_users = on_lists | {"users": arms["users"]}
        claims = self._path("claims.pq")
        plot_fig4.main(shifts, claims, listed, sheet, *self._drawing("fig4"), with_users)
        plot_fig5.main(curves, listed, sheet, *self._drawing("fig5"), on_lists)
        self._findings(arms)
        inputs = {"answers": self._path("answers.parquet"), "questions": [], "metrics": []}
        build_database.main(inputs, [heterogeneity], self._path("study.duckdb"))

    def _drawing(self, figure: str) -> tuple[list[str], str]:
        return [self._path(f"{figure}.pdf")], self._path(f"{figure}.marks.pq")

    def _findings(self, arms: Mapping[str, list[str]]) -> None:
        names = (*FINDINGS, "accuracy", "novelty", "score_comparisons", "ranks", "categories")
        more = ("list_lengths", "claims")
        labels = {"models": DRAWING["model_labels"], "conditions": DRAWING["condition_labels"]}
        study = {"name": "scale", "tasks": list(TASKS), "baseline": "offline", **labels, **arms}
        study |= {"notes": [], "rarest_users": RAREST_USERS}
        write_findings.main(
            answers=self._path("answers.parquet"),
            responses=[self._table("responses", *arm) for arm in self._arms()],
            metrics=[self._path(f"{name}.pq") for name in (*names, *more)],
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

    def _sources(self, task: str) -> list[dict[str, Any]]:
        plain = {"item_ids": [], "subjects": [], "shots": None, "letter_instruction": True}
        plain |= {"columns": {}, "gold": "auto", "list_length": None, "recording": None, "rows": {}}
        plain |= {"scale": {}, "number": {}}
        if task == "recommendations":
            source = {
                "format": "items",
                "dataset": task,
                "kind": "list",
                "files": [str(ROOT / "resources/tasks/recommendations.csv")],
                "candidates": str(ROOT / "resources/tasks/candidates.csv"),
            }
        else:
            files = sorted((ROOT / "resources/sample/mmlu").rglob("*.csv"))
            source = {"format": "mmlu", "dataset": "sample_mmlu", "kind": "choice", "shots": 5}
            source |= {"files": [str(file) for file in files], "candidates": None}
        return [plain | source]

    def _path(self, name: str) -> str:
        return str(self._folder / name)

    def _items(self, task: str) -> str:
        return self._path(f"{task}.parquet")

    def _table(self, stage: str, task: str, condition: str) -> str:
        return self._path(f"{stage}/{task}/{condition}.parquet")

    def _contexts(self, task: str, condition: str) -> list[str]:
        return [self._table("contexts", task, condition)] if condition == "history" else []

    def _metric(self, name: str) -> dict[str, str]:
        return {name: self._path(f"{name}.pq")}


def main() -> None:
    """Do one step."""
    step, folder, scale, result = sys.argv[1:]
    study = Study(Path(folder), int(scale))
    steps: Mapping[str, Callable[[], None]] = {
        name: getattr(study, name)
        for name in vars(Study)
        if not name.startswith("_")
        if name != "n_requests"
    }
    if step == "plan_requests":
        study.prepare()
    begun = time.perf_counter()
    steps[step]()
    seconds = time.perf_counter() - begun
    n_bytes = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    measured = {"seconds": seconds, "rows": study.n_requests, "out_bytes": n_bytes}
    Path(result).write_text(json.dumps(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
