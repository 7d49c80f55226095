"""Whether a model is there until a run ends, by its dates and names. Makes no calls."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import ModelInfo

DAY_S = 86_400.0


def refuse_shut_down(
    model: Mapping[str, Any],
    model_id: str,
    models: Sequence[ModelInfo] | None,
    *,
    estimate_s: float,
    today: date,
) -> None:
    """Refuse a model that is shut down, or will be while the run is under way.

    Args:
        model: entry of `models`. Its `shutdown` and the date in the provider's list both count; the
            earlier one decides.
        models: the provider's list; None where it has none.
        estimate_s: seconds that the run may take.

    Raises:
        StudyError: with the model's successors where the config names them.
    """
    shutdown = shutdown_of(model, model_id, models)
    if shutdown is None:
        return
    if today >= shutdown:
        raise StudyError(
            f"{model_id} was shut down on {shutdown}: answers would come from another model or not at "
            f"all; {_way_out(model, model_id, models)}"
        )
    run_end = today + timedelta(days=-(-estimate_s // DAY_S))
    if run_end >= shutdown and not model.get("allow_shutdown"):
        raise StudyError(
            f"{model_id} will be shut down on {shutdown}, and this run may take until {run_end}; "
            f"{_way_out(model, model_id, models)}, or set models.*.allow_shutdown to true to run it "
            f"anyway"
        )


def refuse_unknown(
    model: Mapping[str, Any], model_id: str, models: Sequence[ModelInfo] | None
) -> None:
    """Refuse a model that the provider does not list.

    Raises:
        StudyError: with the names in the list that are most like it.
    """
    if models is None or is_listed(model_id, models):
        return
    raise StudyError(
        f"the provider does not offer {model_id!r}: it is retired, misspelt, or not open to this key; "
        f"{_way_out(model, model_id, models)}"
    )


def shutdown_of(
    model: Mapping[str, Any], model_id: str, models: Sequence[ModelInfo] | None
) -> date | None:
    """The first day without the model: the earlier of the config's date and the provider's."""
    days = [info.shutdown for info in models or () if _plain(info.id) == _plain(model_id)]
    if model.get("shutdown"):
        days.append(date.fromisoformat(str(model["shutdown"])))
    return min((day for day in days if day is not None), default=None)


def is_listed(model_id: str, models: Sequence[ModelInfo]) -> bool:
    """Whether a list has the model, also as `models/…` (Gemini) or with the tag `latest` (Ollama)."""
    names = {_plain(info.id) for info in models}
    return not names.isdisjoint({_plain(model_id), f"{_plain(model_id)}:latest"})


def _plain(model_id: str) -> str:
    return model_id.removeprefix("models/")


def _way_out(model: Mapping[str, Any], model_id: str, models: Sequence[ModelInfo] | None) -> str:
    successors = list(model.get("successors") or ())
    if successors:
        return f"set models.*.model to a successor: {', '.join(successors)}"
    similar_ids = get_close_matches(
        model_id, [_plain(info.id) for info in models or ()], n=3, cutoff=0.4
    )
    examples = f", such as {', '.join(similar_ids)}" if similar_ids else ""
    return f"set models.*.model to another one{examples}"
