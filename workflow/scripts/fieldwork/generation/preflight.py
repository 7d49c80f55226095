"""Checks before the first call of a job: the key, the model, and the day on which it is shut down.

One call lists the provider's models; it costs nothing. For a server without a list only the dates in the
config count.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import (
    ModelInfo,
    Provider,
    RejectedError,
    TransientError,
)

logger = logging.getLogger(__name__)

DAY_S = 86_400.0


async def check_model(
    provider: Provider, model: Mapping[str, Any], *, estimate_s: float, today: date
) -> None:
    """Refuse a run whose model is not there, or not long enough.

    Args:
        model: entry of `models`, with defaults. Its `shutdown` and the date in the provider's list both
            count; the earlier one decides.
        estimate_s: seconds that the run may take.

    Raises:
        StudyError: the provider refuses the key, or the model is unknown, retired, or shut down
            before the run ends; with its successors, or else with the names that are most like it.
    """
    _refuse_shut_down(model, (), estimate_s, today)
    models = await _models_of(provider)
    if models is None:
        return
    _refuse_shut_down(model, models, estimate_s, today)
    name = _plain(model["model"])
    # Gemini lists `models/…`, and Ollama the tag `latest`
    if not {_plain(info.id) for info in models}.isdisjoint({name, f"{name}:latest"}):
        return
    if model.get("api_key_env") is None and model.get("vertex") is None:
        # llama.cpp answers under any name, and vLLM under the names it was started with
        names = ", ".join(info.id for info in models) or "no model"
        logger.warning("the server does not list %r; it lists %s", model["model"], names)
        return
    raise StudyError(
        f"the provider does not offer {model['model']!r}: it is retired, misspelt, or not open to this "
        f"key; {_way_out(model, models)}"
    )


async def _models_of(provider: Provider) -> list[ModelInfo] | None:
    try:
        return await provider.models()
    except (TransientError, RejectedError) as error:
        # without the list the first answer shows whether the model is there
        logger.warning("the provider's models cannot be listed: %s", error)
        return None


def _refuse_shut_down(
    model: Mapping[str, Any], models: Sequence[ModelInfo], estimate_s: float, today: date
) -> None:
    """Refuse a model that is shut down, or will be while the run is under way."""
    name = model["model"]
    days = [info.shutdown for info in models if _plain(info.id) == _plain(name) and info.shutdown]
    if model.get("shutdown"):
        days.append(date.fromisoformat(model["shutdown"]))
    shutdown = min(days, default=None)
    if shutdown is None:
        return
    if today >= shutdown:
        raise StudyError(
            f"{name} was shut down on {shutdown}: answers would come from another model or not at all; "
            f"{_way_out(model, models)}"
        )
    run_end = today + timedelta(days=-(-estimate_s // DAY_S))
    if run_end >= shutdown and not model.get("allow_shutdown"):
        raise StudyError(
            f"{name} will be shut down on {shutdown}, and this run may take until {run_end}; "
            f"{_way_out(model, models)}, or set models.*.allow_shutdown to true to run it anyway"
        )


def _plain(model_id: str) -> str:
    return model_id.removeprefix("models/")


def _way_out(model: Mapping[str, Any], models: Sequence[ModelInfo]) -> str:
    if model.get("successors"):
        return f"set models.*.model to a successor: {', '.join(model['successors'])}"
    names = [_plain(info.id) for info in models]
    similar_ids = get_close_matches(model["model"], names, n=3, cutoff=0.4)
    examples = f", such as {', '.join(similar_ids)}" if similar_ids else ""
    return f"set models.*.model to another one{examples}"
