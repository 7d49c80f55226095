"""The study file that `make study` writes: somebody's files as tasks, corpus and personas, with comments.

Owns how large such a study is: as many puppets as the files give, and no more than `MOST_PUPPETS`, each
asked twice, so that contexts can be told from asking again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

MOST_PUPPETS = 40
ENOUGH_USERS = 20
"""Users from which on a corpus is filtered as the paper's was."""
REPLICATES = 2
LOCAL_MODEL = "smollm2"
"""The entry of `models` that is asked where its form allows."""
LOCAL_CONTEXT = 7_000
"""Tokens of a conversation that it reads; its window of 8,192 holds the question and the answer, too."""


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """Questions of one kind in a file; `columns` and `gold` as the settings of those names.

    Attributes:
        settings: more settings of the source, such as which rows these are.
        dataset: the name of the file in `datasets`.
    """

    name: str
    path: str
    kind: str
    n_items: int
    columns: Mapping[str, Any] = field(default_factory=dict)
    gold: str = "auto"
    candidates: str | None = None
    needs_server: bool = False
    doubts: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    dataset: str = "my_questions"


@dataclass(frozen=True, slots=True)
class CorpusDraft:
    """Files of conversations; `users` by the fewest messages of a user in a conversation."""

    path: str
    format: str
    columns: Mapping[str, str]
    users: Mapping[int, int]
    flags: frozenset[str]

    @property
    def min_user_turns(self) -> int:
        """The strictest filter that leaves enough users, else the one that leaves all."""
        fewest_users = min(ENOUGH_USERS, max(self.users.values()))
        return max(turns for turns, n in self.users.items() if n >= fewest_users)

    @property
    def n_users(self) -> int:
        return self.users[self.min_user_turns]


@dataclass(frozen=True, slots=True)
class PersonasDraft:
    """A file of personas; `column` as the setting of that name."""

    path: str
    column: str | None
    n_personas: int


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """The model that is asked: an entry of `models`, with what the study file says of it."""

    name: str
    entry: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StudyDraft:
    """A study of somebody's files; without corpus or personas those of the sample are taken."""

    name: str
    tasks: Sequence[TaskDraft]
    corpus: CorpusDraft | None
    personas: PersonasDraft | None
    model: ModelDraft | None = None
    user_conditions: Sequence[str] = ("history", "profile")

    @property
    def runs(self) -> int:
        """Puppets of a condition, and reruns offline."""
        supplies = [self.corpus.n_users] if self.corpus else []
        supplies += [self.personas.n_personas] if self.personas else []
        return min([MOST_PUPPETS, *supplies])

    @property
    def needs_server(self) -> bool:
        return any(task.needs_server for task in self.tasks)

    @property
    def n_calls(self) -> int:
        """Calls to each model: two blank conditions, and those with puppets that are asked twice."""
        n_answers = 2 + len(self.user_conditions) * REPLICATES
        return sum(task.n_items for task in self.tasks) * self.runs * n_answers

    @property
    def model_name(self) -> str:
        """The entry of `models` that is asked."""
        if self.model:
            return self.model.name
        return "local" if self.needs_server else LOCAL_MODEL


def study_text(draft: StudyDraft) -> str:
    return "\n".join(_parts(draft))


def _parts(draft: StudyDraft) -> Iterator[str]:
    file = f"studies/{draft.name}.yaml"
    yield _section(
        [
            # by it editors complete and check settings
            "yaml-language-server: $schema=../workflow/schemas/config.schema.json",
            "Written by `make study`: change what it guessed. What is not said here is said in",
            "config.yaml; docs/settings.md describes every setting.",
            f"  make plan STUDY={file}    # requests, time and cost; nothing is sent",
            f"  make run STUDY={file}     # the study, and its findings",
        ]
    )
    study = {
        "name": draft.name,
        "corpus": "mine" if draft.corpus else "sample",
        "models": [draft.model_name],
        "conditions": ["offline", "offline_again", *draft.user_conditions],
        "tasks": [task.name for task in draft.tasks],
    }
    yield _section(_about_models(draft), study=study)
    if draft.model and draft.model.entry:
        yield _section([], models={draft.model.name: dict(draft.model.entry)})
    elif not draft.model:
        yield _section(
            [
                "A server of your own, asked with `models: [local]` above (docs/models.md has others)."
            ],
            models={"local": {"model": "llama-3.1-8b", "base_url": "http://127.0.0.1:8000/v1"}},
        )
    yield _section(_about_tasks(draft), tasks={t.name: _task(t, draft.runs) for t in draft.tasks})
    yield _section(
        ["Each puppet is asked twice, so that contexts can be told from asking again."],
        conditions={name: {"replicates": REPLICATES} for name in draft.user_conditions},
    )
    if draft.corpus:
        users = ", ".join(f"{m}: {n}" for m, n in draft.corpus.users.items())
        about = [f"Users that are left at each `min_user_turns`: {users}."]
        corpus = _corpus(draft.corpus)
        if draft.model_name == LOCAL_MODEL:
            about.append(f"`max_tokens` is what {LOCAL_MODEL} reads: remove it for larger models.")
            corpus["filters"]["max_tokens"] = LOCAL_CONTEXT
        yield _section(about, corpora={"mine": corpus})
    datasets = {task.dataset: {"path": task.path} for task in draft.tasks}
    if draft.personas:
        datasets["my_personas"] = {"path": draft.personas.path}
    yield _section([], datasets=datasets)
    if draft.personas:
        yield _section(
            ["The persona alone, without sentences that a user might say."],
            profiles={
                "personas": {"dataset": "my_personas", "column": draft.personas.column},
                "sentences_per_profile": 0,
                "template": "resources/templates/persona.txt",
            },
        )


def _section(comments: Sequence[str], **content: Any) -> str:
    lines = "".join(f"# {comment}\n" for comment in comments)
    if not content:
        return lines
    yaml_text: str = yaml.safe_dump(
        content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
    )
    return lines + yaml_text


def _about_models(draft: StudyDraft) -> list[str]:
    if draft.model:
        return []
    if draft.needs_server:
        return [
            "List questions without candidate answers need a larger model than SmolLM2: `models` names a",
            "server.",
        ]
    return [
        "SmolLM2 is a small chat model that runs on this machine: it shows how the study works. Ask",
        "others by their names in `models`, here or in config.yaml.",
    ]


def _about_tasks(draft: StudyDraft) -> list[str]:
    return [
        "`runs` is the number of puppets, and of reruns without one: as many as your files give, and no",
        f"more than {MOST_PUPPETS}.",
        *(f"CHECK {task.name}: {doubt}" for task in draft.tasks for doubt in task.doubts),
    ]


def _task(task: TaskDraft, runs: int) -> dict[str, Any]:
    source: dict[str, Any] = {"format": "items", "kind": task.kind, "dataset": task.dataset}
    source |= {"columns": dict(task.columns)} if task.columns else {}
    source |= {"gold": task.gold} if task.gold != "auto" else {}
    source |= {"candidates": task.candidates} if task.candidates else {}
    source |= task.settings
    max_tokens = {"choice": 5, "scale": 5, "number": 20}.get(task.kind, 512)
    return {"sources": [source], "runs": runs, "max_tokens": max_tokens}


def _corpus(corpus: CorpusDraft) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": corpus.path, "format": corpus.format}
    entry |= {"columns": dict(corpus.columns)} if corpus.columns else {}
    filters = {name: name in corpus.flags for name in ("exclude_toxic", "exclude_redacted")}
    return entry | {
        "filters": {"min_user_turns": corpus.min_user_turns, "languages": [], **filters}
    }
