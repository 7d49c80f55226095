"""From tables, or from assumptions where there are none, to the groups of requests a plan counts.

The caller names every file; one that is not named is assumed, and the row's `basis` says so.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.generation.planning.loads import (
    Group,
    Learnt,
    Question,
    learn,
    questions_of,
)
from fieldwork.generation.planning.rows import Arm
from fieldwork.generation.requests import check_request_count
from fieldwork.records.generation import Request, Response
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item
from fieldwork.token_estimate import message_tokens


class Study(NamedTuple):
    """What is planned: the config's entries, selected, and the tables that may be read.

    Attributes:
        tasks, conditions: the selected entries, by name.
        assumed: section `plan` of the config.
        folder: where the study's results are.
        files: paths of the tables of items, requests and contexts that are there.
        responses: paths of the tables of answers that are there.
        ledgers: paths of the ledgers that are there.
        seed: of the study; part of some calls.
    """

    tasks: Mapping[str, Any]
    conditions: Mapping[str, Any]
    assumed: Mapping[str, Any]
    folder: str
    files: Collection[str]
    responses: Collection[str] = ()
    ledgers: Collection[str] = ()
    seed: int = 0

    def table(self, stage: str, *names: str) -> str:
        """Path of a table of the study, whether it is there or not."""
        return f"{self.folder}/{stage}/{'/'.join(names)}.parquet"


class Asked(NamedTuple):
    """A request by name."""

    item_id: str
    context_id: str | None
    puppet_id: str | None
    replicate: int


class Prompts(NamedTuple):
    """The requests of one task and condition.

    Attributes:
        asked: their names; empty where they are assumed.
        texts: prompt of each item, by id; empty where they are assumed.
        contexts: estimated tokens of each context, by id.
        assumed: groups where there are no tables.
    """

    basis: str
    asked: Sequence[Asked]
    texts: Mapping[str, str]
    contexts: Mapping[str | None, int]
    assumed: Sequence[Group]
    list_share: float


def read_prompts(study: Study, task: str, condition: str) -> Prompts:
    """The requests of one task and condition, from tables as far as they are there."""
    items = study.table("tasks", task)
    texts: dict[str, str] = {}
    share = float(any(source["kind"] != "choice" for source in study.tasks[task]["sources"]))
    if items in study.files:
        rows = tables.read_columns(items, Item, ["item_id", "prompt", "kind"])
        texts = {item_id: prompt for item_id, prompt, _ in rows}
        share = sum(kind == "list" for *_, kind in rows) / max(len(rows), 1)
    requests = study.table("requests", task, condition)
    if not texts or requests not in study.files:
        groups = _assumed_groups(study, task, condition, texts)
        return Prompts("contexts assumed" if texts else "all assumed", (), {}, {}, groups, share)
    asked = [Asked(*row) for row in tables.read_columns(requests, Request, Asked._fields)]
    made = study.table("contexts", task, condition)
    contexts: dict[str | None, int] = {None: 0}
    if made in study.files:
        contexts |= dict(tables.read_columns(made, Context, ["context_id", "n_tokens"]))
    return Prompts("tables", asked, texts, contexts, (), share)


def _assumed_groups(
    study: Study, task: str, condition: str, texts: Mapping[str, str]
) -> list[Group]:
    asked, runs = study.conditions[condition], study.tasks[task]["runs"]
    questions = questions_of([texts[item] for item in sorted(texts)]) or _assumed_questions(
        study, task
    )
    check_request_count(len(questions) * runs * asked.get("replicates", 1))
    if asked["context"] == "none":
        return [Group(0, tuple(_repeated(questions, runs)))]
    prefix = _assumed_context(study.assumed, asked)
    if asked["context"] == "rag":
        alone = [(question._replace(shared=0, warm=0),) for question in questions]
        return [
            Group(prefix, tuple(_repeated(one, asked["replicates"])))
            for _ in range(runs)
            for one in alone
        ]
    return [Group(prefix, tuple(_repeated(questions, asked["replicates"])))] * runs


def _repeated(questions: Iterable[Question], times: int) -> list[Question]:
    """Each question `times` times in a row: from the second on, all of it was sent before."""
    return [
        question._replace(shared=question.tokens) if again else question
        for question in questions
        for again in range(times)
    ]


def _assumed_questions(study: Study, task: str) -> tuple[Question, ...]:
    own = study.assumed["tasks"].get(task, {})
    named = [len(source["item_ids"]) for source in study.tasks[task]["sources"]]
    known = sum(named) if all(named) else study.assumed["items"]
    tokens = own.get("question_tokens", study.assumed["question_tokens"])
    return (Question(tokens),) * int(own.get("items", known))


def _assumed_context(assumed: Mapping[str, Any], condition: Mapping[str, Any]) -> int:
    if condition["context"] == "profile":
        return int(assumed["profile_tokens"])
    tokens = assumed["conversation_tokens"]
    profile = assumed["profile_tokens"] if condition.get("profile") else 0
    # whole conversations are left out of a context that is over its budget
    room = max(condition["token_budget"] - profile, 0)
    kept = min(condition["conversations"], room // max(tokens, 1))
    return int(profile + tokens * kept)


def groups_of(prompts: Prompts, answered: Collection[Asked]) -> list[Group]:
    """The groups of the requests that have no answer yet."""
    if prompts.basis != "tables":
        return list(prompts.assumed)
    left = [asked for asked in prompts.asked if asked not in answered]
    by_context: dict[str | None, list[str]] = defaultdict(list)
    for asked in left:
        by_context[asked.context_id].append(asked.item_id)
    made: dict[tuple[str, ...], tuple[Question, ...]] = {}
    groups = []
    for context_id, items in by_context.items():
        names = tuple(sorted(items))
        if names not in made:
            made[names] = questions_of([prompts.texts[name] for name in names])
        groups.append(Group(prompts.contexts[context_id], made[names]))
    return groups


def read_answered(study: Study, model: str, task: str, condition: str) -> set[Asked]:
    """The requests of an arm that its table of responses holds."""
    path = study.table("responses", model, task, condition)
    if path not in study.responses:
        return set()
    return {Asked(*row) for row in tables.read_columns(path, Response, Asked._fields)}


def read_learnt(study: Study, model: str, prompts: Mapping[tuple[str, str], Prompts]) -> Learnt:
    """What a model's responses showed of its tokens.

    Args:
        prompts: by task and condition.
    """
    estimated: list[int] = []
    billed: list[int] = []
    output: dict[str, list[int]] = defaultdict(list)
    columns = ["item_id", "context_id", "input_tokens", "output_tokens"]
    for (task, condition), known in prompts.items():
        path = study.table("responses", model, task, condition)
        if path not in study.responses:
            continue
        questions = {item: message_tokens(text) for item, text in known.texts.items()}
        for item, context, n_input, n_output in tables.read_columns(path, Response, columns):
            if n_input is not None and item in questions and context in known.contexts:
                estimated.append(questions[item] + known.contexts[context])
                billed.append(n_input)
            if n_output is not None:
                output[task].append(n_output)
    return learn(estimated, billed, output)


def read_arms(
    study: Study,
    model: str,
    prompts: Mapping[tuple[str, str], Prompts],
    in_ledger: Mapping[tuple[str, str], Collection[Asked]],
) -> list[Arm]:
    """What is planned for a model, arm by arm; expected answers are as `plan` assumes them.

    Args:
        prompts: by task and condition.
        in_ledger: what the model's ledger answers, by task and condition. It alone says what will be
            asked; where it is not known, the table of responses counts.
    """
    arms = []
    for (task, condition), known in prompts.items():
        answered = in_ledger.get((task, condition))
        if answered is None:
            answered = read_answered(study, model, task, condition)
        n_requests = len(known.asked) or sum(len(g.questions) for g in known.assumed)
        if known.basis != "tables":
            answered = set()
        groups = groups_of(known, answered)
        n_left = sum(len(group.questions) for group in groups)
        of_list, of_choice = study.assumed["list_tokens"], study.assumed["choice_tokens"]
        arms.append(
            Arm(
                model,
                task,
                condition,
                known.basis,
                groups,
                known.list_share * of_list + (1 - known.list_share) * of_choice,
                study.tasks[task]["max_tokens"],
                n_requests,
                n_requests - n_left,
            )
        )
    return arms
