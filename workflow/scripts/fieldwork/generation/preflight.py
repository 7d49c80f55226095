"""Checks before the first call of a job: the key, the model, and the day on which it is shut down.

One call lists the provider's models; it costs nothing. For a server without a list only the dates in the
config count.
"""

import logging
from collections.abc import Mapping
from datetime import date
from typing import Any

from fieldwork.generation.lifecycle import is_listed, refuse_shut_down, refuse_unknown
from fieldwork.generation.providers.base import (
    ModelInfo,
    Provider,
    RejectedError,
    TransientError,
)

logger = logging.getLogger(__name__)


async def check_model(
    provider: Provider,
    model_entry: Mapping[str, Any],
    *,
    model_id: str,
    estimate_s: float,
    today: date,
) -> None:
    """Refuse a run whose model is not there, or not long enough.

    Args:
        model_entry: entry of `models`, with defaults.
        model_id: the id that the provider knows.
        estimate_s: seconds that the run may take.

    Raises:
        StudyError: the provider refuses the key, or the model is unknown, retired, or shut down
            before the run ends.
    """
    refuse_shut_down(model_entry, model_id, None, estimate_s=estimate_s, today=today)
    models = await _models_of(provider)
    refuse_shut_down(model_entry, model_id, models, estimate_s=estimate_s, today=today)
    if (
        models is not None
        and model_entry.get("api_key_env") is None
        and not _is_hosted(model_entry)
    ):
        # llama.cpp answers under any name, and vLLM under the names it was started with
        if not is_listed(model_id, models):
            names = ", ".join(info.id for info in models) or "no model"
            logger.warning("the server does not list %r; it lists %s", model_id, names)
        return
    refuse_unknown(model_entry, model_id, models)


def _is_hosted(model_entry: Mapping[str, Any]) -> bool:
    return model_entry.get("vertex") is not None


async def _models_of(provider: Provider) -> list[ModelInfo] | None:
    try:
        return await provider.models()
    except (TransientError, RejectedError) as error:
        # without the list the first answer shows whether the model is there
        logger.warning("the provider's models cannot be listed: %s", error)
        return None
