"""How long lists are: more options named look like more varied answers."""

import pandas as pd

from fieldwork.records.metrics import ListLength


def measure_list_lengths(answers: pd.DataFrame) -> list[ListLength]:
    """One row for each model, task and condition with lists that can be read, in this order."""
    if answers.empty:
        return []
    lists = answers[(answers["kind"] == "list") & answers["n_items"].gt(0)]
    n_asked, n_items = lists["n_asked"].astype("float64"), lists["n_items"].astype("float64")
    counts = lists.assign(
        length=n_items,
        n_counted=lists["items"].map(len),
        is_longer=(n_items > n_asked).where(n_asked.notna()),
        is_shorter=(n_items < n_asked).where(n_asked.notna()),
        has_no_number=n_asked.isna(),
    )
    return [
        ListLength(
            model=str(model),
            task=str(task),
            condition=str(condition),
            mean_named=float(arm["length"].mean()),
            share_longer=_mean(arm["is_longer"]),
            share_shorter=_mean(arm["is_shorter"]),
            mean_counted=float(arm["n_counted"].mean()),
            n_lists=len(arm),
            n_without_number=int(arm["has_no_number"].sum()),
        )
        for (model, task, condition), arm in counts.groupby(["model", "task", "condition"])
    ]


def _mean(flags: "pd.Series[float]") -> float | None:
    """Share of the lists whose prompt asks for a number; None where none does."""
    return float(flags.astype("float64").mean()) if flags.notna().any() else None
