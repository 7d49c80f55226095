"""A study as its rules see it: what it selects, which files each step reads, and what it leaves behind.

Paths under `<results>` are those of the study's own folder; Snakemake puts its name in. Read while
Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from fieldwork.conditions import has_user, kind_of, materials_of
from fieldwork.config.auxiliaries import Auxiliary
from fieldwork.config.estimates import estimate_files, study_views
from fieldwork.config.field import DELETIONS_FILE
from fieldwork.config.figures import has_trade_offs, ranked_tasks
from fieldwork.config.judging import judging_auxiliaries
from fieldwork.config.layers import Config, Places
from fieldwork.config.memory import memory_auxiliaries
from fieldwork.config.models import held_form, is_local, is_recorded
from fieldwork.config.needs import Need
from fieldwork.config.parts import parts_of
from fieldwork.config.recordings import reading_of_source
from fieldwork.config.report import ESTIMATES
from fieldwork.config.settings import arms_of, controls_of, study_corpora
from fieldwork.config.study_files import location_of, source_files
from fieldwork.config.study_needs import needs_of
from fieldwork.config.variants import origins_of, source_settings, steps_of
from fieldwork.config.waves import drawn_conditions, later_waves, wave_settings, waves_of
from fieldwork.errors import StudyError
from fieldwork.records import field as field_records
from fieldwork.records.columns import Part, Table, row_types_of, table_of
from fieldwork.records.field import FIELD

Registry = Literal["models", "conditions", "tasks"]

ANSWERS = "<results>/answers/answers.parquet"
PROFILES = "<results>/personas/profiles.parquet"
CLAIMS = "<results>/metrics/claims.parquet"


class Study(NamedTuple):
    """A checked config, and the folder that the workflow came in.

    Attributes:
        config: checked, with its defaults filled in.
        home: the folder with the Snakefile.
        places: where its settings stand.
    """

    config: Config
    home: Path
    places: Places = Places({}, "")

    # ---- what it selects ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, which is also that of its folders."""
        return str(self.config["study"]["name"])

    @property
    def results(self) -> str:
        return f"results/{self.name}"

    def place(self, path: str) -> str:
        """A path with the folder of results where a rule writes `<results>`."""
        return path.replace("<results>", self.results)

    @property
    def tasks(self) -> list[str]:
        return [*self.config["study"]["tasks"]]

    @property
    def baseline(self) -> str:
        """The condition that the others are compared with."""
        return str(self.config["metrics"]["baseline"])

    def entries(self, registry: Registry) -> dict[str, Config]:
        """The entries of a registry that the study selects."""
        return {name: self.config[registry][name] for name in self.config["study"][registry]}

    def asked_models(self) -> dict[str, Config]:
        """The selected models that are asked: the answers of the others are recorded."""
        return {n: entry for n, entry in self.entries("models").items() if not is_recorded(entry)}

    def conditions_and_baseline(self) -> dict[str, Config]:
        """The selected conditions, and the one that they are compared with."""
        return {self.baseline: self.condition(self.baseline)} | self.entries("conditions")

    def auxiliaries(self) -> dict[str, Auxiliary]:
        """The questions to models that are asked for the study's own use, by the name of their task."""
        return memory_auxiliaries(self.config) | judging_auxiliaries(self.config)

    def condition(self, name: str) -> Config:
        """An entry of `conditions`, or the condition of an auxiliary task."""
        return self._entry("conditions", name)

    def task(self, name: str) -> Config:
        """An entry of `tasks`, or an auxiliary task."""
        return self._entry("tasks", name)

    def _entry(self, registry: Literal["conditions", "tasks"], name: str) -> Config:
        if name not in self.config[registry] and (auxiliary := self.auxiliaries().get(name)):
            return auxiliary.task() if registry == "tasks" else auxiliary.condition(name)
        return dict(self.config[registry][name])

    def parts(self) -> set[Part]:
        return parts_of(self.config)

    def variants(self) -> dict[str, str]:
        """The selected derived tasks, each with the task at its root."""
        return origins_of(self.config)

    def waves(self) -> dict[str, str]:
        """The selected conditions that are waves, each with its wave, in order of the waves' names."""
        return waves_of(self.config)

    # ---- files from outside ------------------------------------------------------------------------

    def resolve(self, path: str) -> str:
        """A file that comes with the workflow, unless the study folder has its own of the same name."""
        return path if Path(path).is_absolute() or Path(path).exists() else str(self.home / path)

    def source(self, name: str) -> list[str]:
        """Files of an entry of `corpora` or `datasets`: those at its path, or its download's manifest.

        Raises:
            StudyError: there is nothing at the path.
        """
        return source_files(self.config, name, self.resolve)

    def location(self, name: str) -> Config:
        return location_of(self.config, name)

    def is_here(self, name: str) -> bool:
        """Whether an entry of `corpora` or `datasets` is on this machine."""
        path = self.location(name)["path"]
        return path is not None or Path(f"resources/downloads/{name}/manifest.json").exists()

    def optional_file(self, path: str | None) -> list[str]:
        """A file that comes with the workflow or lies in the study folder, where the config names one."""
        return [] if path is None else [self.resolve(path)]

    def item_sources(self, task: str) -> list[Config]:
        """The sources of a task's items, with the files that each is read from."""
        return [self._item_source(part) for part in self.config["tasks"][task]["sources"]]

    def _item_source(self, part: Config) -> Config:
        return {
            **part,
            "files": self.source(part["dataset"]),
            "candidates": self.resolve(part["candidates"]) if part["candidates"] else None,
            "recording": reading_of_source(self.config, part),
        }

    def item_steps(self, task: str) -> list[Config]:
        """How a derived task puts its questions; keys are those of `Step` in `tasks/variants/kinds`."""
        return [
            {
                **step,
                "value": self._item_source(step["value"])
                if step["kind"] == "translated"
                else step["value"],
                "table": self.resolve(step["table"]) if step["table"] else None,
            }
            for step in steps_of(self.config, task)
        ]

    def item_files(self, task: str) -> list[str]:
        sources = [self._item_source(p) for p in source_settings(self.config, task).values()]
        candidates = [source["candidates"] for source in sources if source["candidates"]]
        tables = [step["table"] for step in self.item_steps(task) if step["table"]]
        return [*(file for source in sources for file in source["files"]), *candidates, *tables]

    def leaderboards(self) -> dict[str, str]:
        """The file of the leaderboard of each task that has places on one."""
        return {task: self.resolve(path) for task, path in ranked_tasks(self.config).items()}

    def leaderboard_names(self) -> dict[str, str]:
        """What the selected models are called on leaderboards, those that are on one."""
        names = {name: m.get("leaderboard_name") for name, m in self.entries("models").items()}
        return {model: name for model, name in names.items() if name}

    @property
    def preregistration(self) -> str:
        """The folder of the study's preregistrations, which no run changes."""
        return f"resources/preregistration/{self.name}"

    def preregistrations(self) -> list[str]:
        """The records of preregistrations, the oldest first."""
        return sorted(map(str, Path(self.preregistration).glob("*.json")))

    def deletions(self) -> list[str]:
        """The record of participants who were forgotten, where there are any."""
        return [DELETIONS_FILE] if Path(DELETIONS_FILE).exists() else []

    # ---- tables between the steps ------------------------------------------------------------------

    def task_tables(self) -> list[str]:
        return [f"<results>/tasks/{task}.parquet" for task in self.tasks]

    def context_tables(self, conditions: Iterable[str] | None = None) -> list[str]:
        """The contexts of every task under the given conditions, or the selected ones, that have any."""
        names = self.entries("conditions") if conditions is None else conditions
        return [
            f"<results>/contexts/{task}/{name}.parquet"
            for task in self.tasks
            for name in names
            if kind_of(self.condition(name)).has_contexts
        ]

    def request_tables(self) -> list[str]:
        """The requests of every task and condition; none where no model is asked."""
        if not self.asked_models():
            return []
        return [
            f"<results>/requests/{task}/{name}.parquet"
            for task in self.tasks
            for name in self.entries("conditions")
        ]

    def tables(
        self,
        stage: Literal["responses", "answers/parsed", "answers/forms"],
        models: Iterable[str] | None = None,
        tasks: Iterable[str] | None = None,
    ) -> list[str]:
        """The tables of a stage, one for every model and task, or for those given, and condition."""
        return [
            f"<results>/{stage}/{model}/{task}/{name}.parquet"
            for model in (self.entries("models") if models is None else models)
            for task in (self.tasks if tasks is None else tasks)
            for name in self.entries("conditions")
        ]

    def form_tables(self) -> list[str]:
        """The form of the answers of every model, task and condition, and of the field's."""
        of_models = self.tables("answers/forms")
        return [*of_models, *self.has("field", ["<results>/answers/forms/field.parquet"])]

    def corpora(self) -> list[str]:
        return study_corpora(self.config)

    def reading(self, corpus: str) -> Config:
        entry = self.config["corpora"][corpus]
        return {key: entry[key] for key in ("format", "columns", "roles")}

    def needs(self) -> list[Need]:
        return needs_of(self.config)

    def profiles(self) -> list[str]:
        """The table of profiles, where a selected condition needs it."""
        is_needed = any("profiles" in materials_of(c) for c in self.entries("conditions").values())
        return [PROFILES] if is_needed else []

    def personas(self) -> list[str]:
        """The files of the persona source, where a selected condition needs it."""
        dataset = self.config["profiles"]["personas"]["dataset"]
        return self.source(dataset) if self.profiles() else []

    def puppet_counts(self) -> list[str]:
        """The table of puppet counts, where the study needs any puppets."""
        return ["<results>/puppets.csv"] if self.needs() else []

    def context_inputs(
        self, condition: str, gather: Callable[[str], list[str]]
    ) -> dict[str, str | list[str]]:
        """The files that the contexts of a condition are made from, by what they hold.

        Args:
            gather: the files of all shards of a path with `{scatteritem}`; a run may set their number.
        """
        corpus = self.condition(condition).get("corpus")
        shards = f"<results>/embeddings/{corpus}/shards/{{scatteritem}}.parquet"
        files: dict[str, str | list[str]] = {
            "conversations": f"<results>/corpus/{corpus}/conversations.parquet",
            "vectors": gather(shards),
            "questions": "<results>/tasks/{task}.parquet",
            "profiles": PROFILES,
            "memories": "<results>/memory/texts/{task}/{condition}.parquet",
        }
        materials = materials_of(self.condition(condition))
        return {name: file for name, file in files.items() if name in materials}

    def context_settings(self, condition: str) -> Config:
        """The entry of a condition, as what its contexts are made by: they are the same in every wave."""
        return {key: value for key, value in self.condition(condition).items() if key != "wave"}

    def contexts(self, condition: str) -> list[str]:
        """The table of a condition's contexts; none where the model sees nothing of a user."""
        has_contexts = kind_of(self.condition(condition)).has_contexts
        return ["<results>/contexts/{task}/{condition}.parquet"] if has_contexts else []

    def first_replicate(self, task: str, condition: str) -> int:
        """Number of a condition's first rerun: after those of the condition that it follows, if any."""
        is_second = self.condition(condition).get("after")
        return int(self.task(task)["runs"]) if is_second else 0

    def request_settings(self, task: str, condition: str) -> Config:
        """How often a condition asks a question, after each context or blank, and the first number."""
        entry = self.condition(condition)
        has_contexts = kind_of(entry).has_contexts
        return {
            "task": task,
            "condition": condition,
            "replicates": entry.get("replicates", 1) if has_contexts else self.task(task)["runs"],
            "first": 0 if has_contexts else self.first_replicate(task, condition),
            **self.option_calls(task, condition),
        }

    def option_calls(self, task: str, condition: str) -> Config:
        """How often questions with options are asked, where their probabilities say the rest.

        Without a user it is twice, which shows whether a model states the same again.
        """
        if self.config["study"]["probabilities"] == "beside":
            return {}
        n_most = 1 if kind_of(self.condition(condition)).has_contexts else 2
        return {"option_calls": min(n_most, self.task(task)["runs"])}

    def generation_arm(self, model: str, task: str, condition: str) -> Config:
        """How a model is asked; keys are those of `GenerationArm` in `generation/rows`."""
        return {
            "model": model,
            "task": task,
            "condition": condition,
            "temperature": self.condition(condition)["temperature"],
            "max_tokens": self.task(task)["max_tokens"],
            "seed": self.config["study"]["seed"],
            **wave_settings(self.config, condition),
        }

    # ---- metrics -----------------------------------------------------------------------------------

    def metric_tables(self) -> list[str]:
        parts = self.parts()
        return [
            f"<results>/{table.path}"
            for table in _declared_tables(*(module for _, module in ESTIMATES))
            if table.path.startswith("metrics/") and table.part in parts
        ] + estimate_files()

    def claim_rules(self) -> Config:
        """What the study says of its claims: its primary comparisons, margins, users and controls."""
        return {
            "primary": self.config["study"]["primary"],
            "margins": self.config["metrics"]["margins"],
            "later_waves": later_waves(self.config),
            **self.users_and_controls(),
        }

    def has(self, part: Part, paths: Any) -> Any:
        """`paths`, one or a list, where the study has a part; else nothing."""
        return paths if part in self.parts() else []

    def arms(self) -> list[tuple[str, int | None]]:
        """The conditions of the figure of arms, each with the conversations that it asks for."""
        return [
            (name, entry.get("conversations") if has_user(entry) else 0)
            for name, entry in ((name, self.condition(name)) for name in arms_of(self.config))
        ]

    def chance(self) -> Config:
        """What the study says of chance; keys are those of `ChanceSettings` in `estimates/quantity`."""
        metrics = self.config["metrics"]
        return {
            "n_permutations": metrics["permutations"],
            "seed": self.config["study"]["seed"],
            "rarest_users": metrics["rarest_users"],
            "rarest_prompts": metrics["rarest_prompts"],
        }

    def calibration(self) -> Config:
        """What calibration needs to know; keys are those of `CalibrationSettings` in `metrics/`."""
        section = self.config["calibration"]
        # conditions that only ask the baseline again are not weighed
        firsts = [name for name, c in self.entries("conditions").items() if not c.get("after")]
        return {
            "models": self.config["study"]["models"],
            "tasks": section["tasks"] or self.tasks,
            "conditions": section["conditions"] or firsts,
            "section": {name: section[name] for name in ("over", "folds", "repeats")},
            "chance": self.chance(),
        }

    # ---- figures and pages -------------------------------------------------------------------------

    def model_labels(self) -> dict[str, str]:
        """The printed names of the selected models, in their order."""
        return {name: model["label"] for name, model in self.entries("models").items()}

    def drawing(self) -> Config:
        """What every figure needs to know of the study; keys are those of `FigureSettings`."""
        labels = {name: self.condition(name)["label"] for name in drawn_conditions(self.config)}
        labels |= {FIELD: "Field"} if self.config["field"] else {}
        models = self.entries("models").values()
        texts = [text for model in models for text in (model["note"], held_form(model))]
        notes = dict.fromkeys(filter(None, texts))
        return {
            "conditions": [*labels],
            "condition_labels": labels,
            "model_labels": self.model_labels(),
            "note": ". ".join(notes) or None,
            "baseline": self.baseline,
            "styles": self.config["figure_styles"],
        }

    def users_and_controls(self) -> dict[str, list[str]]:
        """Conditions that bring a user, real ones included, and those that ask the baseline again."""
        users = [name for name, entry in self.entries("conditions").items() if has_user(entry)]
        return {
            "users": [*users, *([FIELD] if self.config["field"] else [])],
            "controls": controls_of(self.config),
        }

    def figure_task(self, figure: str) -> str:
        """The task that a figure draws.

        Raises:
            StudyError: the study does not draw the figure.
        """
        task: str | None = self.config["figures"][figure]
        if task is None:
            raise StudyError(
                f"figures.{figure} is null, or no task of study.tasks has questions that it draws; "
                f"select one that has"
            )
        return task

    def figures(self) -> list[str]:
        field = self.config["field"]
        return [
            *(figure for figure, task in sorted(self.config["figures"].items()) if task),
            *(["who_asks"] if self.users_and_controls()["users"] else []),
            *(["robustness"] if {*self.variants().values()} & {*self.tasks} else []),
            *self.has("waves", ["drift"]),
            *(["pareto"] if has_trade_offs(self.config) else []),
            *self.has("judging", ["raters"]),
            *self.has("field", ["calibration", "field_ranks"]),
            *(["field_groups"] if field and field["columns"]["groups"] else []),
            *self.has("arms", [(self.config["arms"] or {}).get("figure")]),
        ]

    def uses(self, model: str, provider: str) -> int:
        """1 where a model is asked through a provider, else 0."""
        return int(self.config["models"][model]["provider"] == provider)

    def gpus(self, condition: str | None = None) -> int:
        """GPUs of a job that encodes the corpus, or the questions of a condition: 0 or 1."""
        is_encoded = condition is None or kind_of(self.condition(condition)).is_retrieved
        return int(is_encoded and str(self.config["embedding"]["device"]).startswith("cuda"))

    def price(self, model: str) -> Config:
        """The price table's line for a model, if any, by the model's id."""
        model_id = self.config["models"][model].get("model")
        return {name: price for name, price in self.config["prices"].items() if name == model_id}

    def outputs(self) -> list[str]:
        is_paid = not all(map(is_local, self.asked_models().values()))
        calibration = [
            table.path
            for table in _declared_tables(field_records)
            if table.part == "calibration" and "calibration" in self.parts()
        ]
        return [
            "<results>/study.duckdb",
            "<results>/findings.md",
            "<results>/explorer",
            "<results>/provenance/config.yaml",
            "<results>/provenance/versions.csv",
            *(["<results>/cost.csv"] if is_paid else []),
            *(
                f"<results>/figures/{name}.{end}"
                for name in self.figures()
                for end in ("pdf", "svg", "png")
            ),
            *(f"<results>/{Path(path).with_suffix('.csv')}" for path in calibration),
            *(f"<results>/metrics/{name}.csv" for name in study_views(self)),
        ]


def _declared_tables(*stages: ModuleType) -> Iterator[Table]:
    """The tables that modules of row types declare, in their order."""
    return (table_of(row_type) for stage in stages for row_type in row_types_of(stage))
