"""Say how large a study must be to detect given effects, and what that costs.

In: tables of items, requests and contexts as far as they are there, and of responses.
Out: <results>/power, power at every size and the smallest that will do.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.conditions import has_user
from fieldwork.generation.planning.arm_sizes import ArmSizes
from fieldwork.generation.planning.tables import PlanInputs
from fieldwork.metrics.power import page as power_page
from fieldwork.metrics.power.study import StudyShape, simulate_effects
from fieldwork.metrics.power.table import PlannedStudy, advice_rows, power_rows
from fieldwork.records.power import PowerAdvice, PowerRow


def main(
    inputs: list[str],
    outputs: dict[str, str],
    name: str,
    settings: dict[str, Any],
    tasks: dict[str, Any],
    conditions: dict[str, Any],
    models: dict[str, Any],
    prices: dict[str, Any],
    plan: dict[str, Any],
    answer_times: dict[str, int],
    baseline: str,
    permutations: int,
    score_task: str | None,
    drawing: dict[str, Any],
    seed: int,
) -> None:
    """Simulate, price and write."""
    folder = str(Path(outputs["power"]).parents[1])
    study = PlanInputs(tasks, conditions, plan, folder, set(inputs), set(answer_times), seed=seed)
    sizes = ArmSizes(study, models, prices)
    items = {task: sizes.n_items(task) for task in tasks}
    lists = {task for task in items if sizes.is_list(task)}
    outline = StudyShape(
        items, lists, score_task if score_task in items else None, len(conditions) - 1
    )
    curves = simulate_effects(settings, outline, n_permutations=permutations, seed=seed)
    puppets = [name for name, entry in conditions.items() if has_user(entry)]
    alpha, target = settings["alpha"], settings["target"]
    planned_study = PlannedStudy(
        [*models], puppets, baseline, alpha, target, settings["field_cost_usd"]
    )
    tables.write_table(outputs["power"], power_rows(curves, planned_study, sizes), PowerRow)
    advice = list(advice_rows(curves, planned_study, sizes))
    tables.write_table(outputs["advice"], advice, PowerAdvice)
    labels = (drawing["models"], drawing["conditions"])
    facts = power_page.PowerPageFacts(name, settings["simulations"], alpha, target, items, *labels)
    with tables.atomic_path(outputs["page"]) as partial:
        partial.write_text(power_page.render(advice, facts), encoding="utf-8")


if __name__ == "__main__":
    stage.run_script(main, snakemake)
