"""From tables, or from assumptions where there are none, to the groups of requests that a plan counts.

The caller names every file; one that is not named is assumed, and the row's `basis` says so.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.conditions import has_user, kind_of
from fieldwork.generation.planning.loads import (
    ObservedTokens,
    PlannedGroup,
    PlannedQuestion,
    observe_tokens,
    questions_of,
)
from fieldwork.generation.planning.rows import PlannedArm
from fieldwork.generation.pricing import Price, price_of
from fieldwork.generation.requests import check_request_count
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item
from fieldwork.token_estimate import message_tokens

REQUEST_COLUMNS = [field.name for field in fields(Request)]


class PlanInputs(NamedTuple):
    """What is planned: the config's entries, selected, and the tables that may be read.

    Attributes:
        tasks, conditions, models: the selected entries, by name.
        prices: by model id.
        assumptions: section `plan` of the config.
        folder: where the study's results are.
        files: paths of the tables of items, requests and contexts that are there.
        responses: paths of the tables of answers that are there.
        ledgers: paths of the ledgers that are there.
        seed: of the study; part of some calls.
        recorded_models: selected models whose answers are recorded, so that nothing is planned for them.
        auxiliaries: auxiliary tasks, each with its `task`, its `condition` and its `models`.
        is_by_probabilities: whether probabilities of options stand in the place of asking again.
    """

    tasks: Mapping[str, Any]
    conditions: Mapping[str, Any]
    models: Mapping[str, Any]
    prices: Mapping[str, Any]
    assumptions: Mapping[str, Any]
    folder: str
    files: Collection[str]
    responses: Collection[str] = ()
    ledgers: Collection[str] = ()
    seed: int = 0
    recorded_models: Sequence[str] = ()
    auxiliaries: Mapping[str, Mapping[str, Any]] = {}
    is_by_probabilities: bool = False

    def parts(self) -> Iterator["PlanInputs"]:
        """The study, and each auxiliary task as a study of its own."""
        yield self._replace(auxiliaries={})
        for name, one in self.auxiliaries.items():
            yield self._replace(
                tasks={name: one["task"]},
                conditions={name: one["condition"]},
                models=one["models"],
                auxiliaries={},
                is_by_probabilities=False,
            )

    def table(self, stage: str, *names: str) -> str:
        """Path of a table of the study, whether it is there or not."""
        return f"{self.folder}/{stage}/{'/'.join(names)}.parquet"

    def price(self, model: str) -> Price | None:
        """What a model's calls cost, where that is known."""
        return price_of(self.prices, self.models[model].get("model", ""))

    def arm(self, model: str, task: str, condition: str) -> GenerationArm:
        """What all responses of a model, task and condition share."""
        return GenerationArm(
            model=model,
            task=task,
            condition=condition,
            temperature=self.conditions[condition]["temperature"],
            max_tokens=self.tasks[task]["max_tokens"],
            seed=self.seed,
            wave=self.conditions[condition].get("wave"),
        )


class PlannedRequests(NamedTuple):
    """The requests of one task and condition.

    Attributes:
        basis: what they are counted from.
        requests: empty where they are assumed.
        prompts: prompt of each item, by id; empty where the requests are assumed.
        context_tokens: estimated tokens of each context, by id.
        assumed_groups: empty where there are tables.
        list_share: share of the items whose answer is a list.
        n_saved: requests that probabilities of options save.
        with_options: the items whose probabilities of options stand in the place of asking again.
    """

    basis: str
    requests: Sequence[Request]
    prompts: Mapping[str, str]
    context_tokens: Mapping[str | None, int]
    assumed_groups: Sequence[PlannedGroup]
    list_share: float
    n_saved: int = 0
    with_options: Collection[str] = ()


def read_all_requests(study: PlanInputs) -> dict[tuple[str, str], PlannedRequests]:
    """The requests of the study, by task and condition."""
    arms = [(task, condition) for task in study.tasks for condition in study.conditions]
    return {arm: read_requests(study, *arm) for arm in arms}


def read_requests(study: PlanInputs, task: str, condition: str) -> PlannedRequests:
    """The requests of one task and condition, from tables as far as they are there."""
    item_path = study.table("tasks", task)
    prompts: dict[str, str] = {}
    with_options: set[str] = set()
    kinds = {source["kind"] for source in study.tasks[task]["sources"]}
    share = float(not kinds.isdisjoint({"list", "mixed", "text"}))
    if item_path in study.files:
        rows = tables.read_columns(item_path, Item, ["item_id", "prompt", "kind"])
        prompts = {item_id: prompt for item_id, prompt, _ in rows}
        with_options = {item_id for item_id, _, kind in rows if kind == "choice"}
        share = sum(kind in ("list", "text") for *_, kind in rows) / max(len(rows), 1)
    request_path = study.table("requests", task, condition)
    if not prompts or request_path not in study.files:
        is_of_options = [item in with_options for item in sorted(prompts)]
        if not prompts:
            is_of_options = [kinds == {"choice"}]
        groups, n_saved = _assumed_groups(study, task, condition, prompts, is_of_options)
        basis = "contexts assumed" if prompts else "all assumed"
        return PlannedRequests(basis, (), {}, {}, groups, share, n_saved)
    requests = [
        Request(*row) for row in tables.read_columns(request_path, Request, REQUEST_COLUMNS)
    ]
    context_path = study.table("contexts", task, condition)
    context_tokens: dict[str | None, int] = {None: 0}
    if context_path in study.files:
        columns = ["context_id", "n_tokens"]
        context_tokens |= dict(tables.read_columns(context_path, Context, columns))
    n_times, n_once = _repeats(study, task, condition)
    n_saved = sum(request.item_id in with_options for request in requests) // n_once
    return PlannedRequests(
        *("tables", requests, prompts, context_tokens, (), share),
        n_saved * (n_times - n_once),
        with_options if study.is_by_probabilities else (),
    )


def _repeats(study: PlanInputs, task: str, condition: str) -> tuple[int, int]:
    """How often a prompt is asked after each context, and how often one with options."""
    settings, runs = study.conditions[condition], study.tasks[task]["runs"]
    has_contexts = kind_of(settings).has_contexts
    n_times = settings["replicates"] if has_contexts else runs
    n_once = min(1 if has_contexts else 2, n_times)
    return n_times, n_once if study.is_by_probabilities else n_times


def _assumed_groups(
    study: PlanInputs,
    task: str,
    condition: str,
    prompts: Mapping[str, str],
    is_of_options: Sequence[bool],
) -> tuple[list[PlannedGroup], int]:
    """The groups, and how many requests probabilities save.

    Args:
        is_of_options: whether each prompt, in order of the items, or else any has options.
    """
    settings, runs = study.conditions[condition], study.tasks[task]["runs"]
    questions = questions_of([prompts[item] for item in sorted(prompts)]) or _assumed_questions(
        study, task
    )
    check_request_count(len(questions) * runs * settings.get("replicates", 1))
    n_times, n_once = _repeats(study, task, condition)
    has_options = [*is_of_options] if prompts else [*is_of_options] * len(questions)
    times = [n_once if has else n_times for has in has_options]
    n_saved = sum(n_times - n for n in times)
    if not has_user(settings):
        return [PlannedGroup(0, tuple(_replicates(questions, times)))], n_saved
    prefix = _assumed_context(study.assumptions, settings)
    if kind_of(settings).context_for == "puppet and item":
        # each question has a context of its own: nothing else was sent after it
        groups = [
            PlannedGroup(prefix, tuple(_replicates([PlannedQuestion(question.tokens)], [n])))
            for question, n in zip(questions, times, strict=True)
        ]
        return groups * runs, n_saved * runs
    return [PlannedGroup(prefix, tuple(_replicates(questions, times)))] * runs, n_saved * runs


def _replicates(
    questions: Iterable[PlannedQuestion], times: Iterable[int]
) -> list[PlannedQuestion]:
    """Each question so many times in a row: from the second on, all of it was sent before."""
    return [
        question._replace(shared_tokens=question.tokens) if replicate else question
        for question, n in zip(questions, times, strict=True)
        for replicate in range(n)
    ]


def _assumed_questions(study: PlanInputs, task: str) -> tuple[PlannedQuestion, ...]:
    assumed_size = study.tasks[task].get("assumed", {})
    settings = {**assumed_size, **study.assumptions["tasks"].get(task, {})}
    n_named = [len(source["item_ids"]) for source in study.tasks[task]["sources"]]
    n_items = sum(n_named) if all(n_named) else study.assumptions["items"]
    tokens = settings.get("question_tokens", study.assumptions["question_tokens"])
    return (PlannedQuestion(tokens),) * int(settings.get("items", n_items))


def _assumed_context(assumptions: Mapping[str, Any], condition: Mapping[str, Any]) -> int:
    if kind_of(condition).has_memory:
        tokens = condition["recent"] * assumptions["conversation_tokens"]
        return int(min(assumptions["memory_tokens"] + tokens, condition["token_budget"]))
    if not kind_of(condition).has_conversations:
        return int(assumptions["profile_tokens"])
    tokens = assumptions["conversation_tokens"]
    profile = assumptions["profile_tokens"] if condition.get("profile") else 0
    # whole conversations are left out of a context that is over its budget
    room = max(condition["token_budget"] - profile, 0)
    n_conversations = min(condition["conversations"], room // max(tokens, 1))
    return int(profile + tokens * n_conversations)


def unanswered_groups(
    arm_requests: PlannedRequests, answered_requests: Collection[Request]
) -> list[PlannedGroup]:
    """The groups of the requests that have no answer yet."""
    if arm_requests.basis != "tables":
        return list(arm_requests.assumed_groups)
    items_by_context: dict[str | None, list[str]] = defaultdict(list)
    for request in arm_requests.requests:
        if request not in answered_requests:
            items_by_context[request.context_id].append(request.item_id)
    questions: dict[tuple[str, ...], tuple[PlannedQuestion, ...]] = {}
    groups = []
    for context_id, items in items_by_context.items():
        names = tuple(sorted(items))
        if names not in questions:
            questions[names] = questions_of([arm_requests.prompts[name] for name in names])
        groups.append(PlannedGroup(arm_requests.context_tokens[context_id], questions[names]))
    return groups


def read_answered_requests(
    study: PlanInputs, model: str, task: str, condition: str
) -> set[Request]:
    """The requests of an arm that its table of responses holds."""
    path = study.table("responses", model, task, condition)
    if path not in study.responses:
        return set()
    return {Request(*row) for row in tables.read_columns(path, Response, REQUEST_COLUMNS)}


def read_observed_tokens(
    study: PlanInputs, model: str, requests: Mapping[tuple[str, str], PlannedRequests]
) -> ObservedTokens:
    """What a model's responses showed of its tokens.

    Args:
        requests: by task and condition.
    """
    estimates: list[int] = []
    bills: list[int] = []
    output: dict[str, list[int]] = defaultdict(list)
    columns = ["item_id", "context_id", "input_tokens", "output_tokens"]
    for (task, condition), arm_requests in requests.items():
        path = study.table("responses", model, task, condition)
        if path not in study.responses:
            continue
        questions = {item: message_tokens(prompt) for item, prompt in arm_requests.prompts.items()}
        for item, context, n_input, n_output in tables.read_columns(path, Response, columns):
            if n_input is not None and item in questions and context in arm_requests.context_tokens:
                estimates.append(questions[item] + arm_requests.context_tokens[context])
                bills.append(n_input)
            if n_output is not None:
                output[task].append(n_output)
    return observe_tokens(estimates, bills, output)


def read_arms(
    study: PlanInputs,
    model: str,
    requests: Mapping[tuple[str, str], PlannedRequests],
    ledger_answers: Mapping[tuple[str, str], Collection[Request]],
) -> list[PlannedArm]:
    """What is planned for a model, arm by arm; answers are as long as section `plan` assumes.

    Args:
        requests: by task and condition.
        ledger_answers: the requests that the model's ledger answers, by task and condition. The ledger
            alone decides what will be asked. For an arm that is missing here, the table of responses
            counts.
    """
    arms = []
    for (task, condition), arm_requests in requests.items():
        answers = ledger_answers.get((task, condition))
        if answers is None:
            answers = read_answered_requests(study, model, task, condition)
        groups = unanswered_groups(arm_requests, answers)
        n_requests = len(arm_requests.requests) or _n_questions(arm_requests.assumed_groups)
        list_tokens = arm_requests.list_share * study.assumptions["list_tokens"]
        choice_tokens = (1 - arm_requests.list_share) * study.assumptions["choice_tokens"]
        arms.append(
            PlannedArm(
                model=model,
                task=task,
                condition=condition,
                basis=arm_requests.basis,
                groups=groups,
                output_tokens=list_tokens + choice_tokens,
                max_tokens=study.tasks[task]["max_tokens"],
                n_requests=n_requests,
                n_answered=n_requests - _n_questions(groups),
            )
        )
    return arms


def _n_questions(groups: Iterable[PlannedGroup]) -> int:
    return sum(len(group.questions) for group in groups)
