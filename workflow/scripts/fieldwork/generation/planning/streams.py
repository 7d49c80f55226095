"""The calls of a plan that are sent once more as streams: the very ones that the study will draw."""

from collections.abc import Mapping, Sequence

from fieldwork.generation.first_tokens import sample_requests
from fieldwork.generation.planning.loads import PlannedGroup
from fieldwork.generation.planning.tables import PlanInputs, PlannedRequests


def read_streamed_requests(
    study: PlanInputs, model: str, requests: Mapping[tuple[str, str], PlannedRequests]
) -> dict[tuple[str, str], PlannedRequests]:
    """Of each arm's requests those that are streamed, by task and condition; none without such a sample.

    Args:
        requests: all requests of the study, by task and condition.
    """
    n = int(study.models[model].get("first_token_sample", 0))
    if not n:
        return {}
    return {
        (task, condition): arm_requests._replace(
            requests=sample_requests(arm_requests.requests, n, study.arm(model, task, condition)),
            assumed_groups=_first_questions(arm_requests.assumed_groups, n),
        )
        for (task, condition), arm_requests in requests.items()
    }


def _first_questions(groups: Sequence[PlannedGroup], n: int) -> list[PlannedGroup]:
    """So many questions of assumed groups, which are all alike."""
    part = []
    for group in groups:
        if n <= 0:
            break
        part.append(group._replace(questions=group.questions[:n]))
        n -= len(group.questions)
    return part
