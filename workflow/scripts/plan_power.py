"""Say how large a study must be to find given effects, and what that costs.

In: tables of items, requests and contexts as far as they are there, and of responses.
Out: <results>/power, power at every size and the smallest that will do.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.planning.arm_sizes import ArmSizes
from fieldwork.generation.planning.tables import Study
from fieldwork.metrics.power import page
from fieldwork.metrics.power.study import Family, simulate
from fieldwork.metrics.power.table import Asked, advice_rows, power_rows
from fieldwork.records.power import PowerAdvice, PowerRow


def main(
    study: Study,
    models: dict[str, Any],
    prices: dict[str, Any],
    power: dict[str, Any],
    baseline: str,
    permutations: int,
    score_task: str | None,
    drawing: dict[str, Any],
    name: str,
    outputs: dict[str, str],
) -> None:
    """Simulate, price and write."""
    sizes = ArmSizes(study, models, prices)
    items = {task: sizes.n_items(task) for task in study.tasks}
    lists = {task for task in items if sizes.is_list(task)}
    scored = score_task if score_task in items else None
    family = Family(items, lists, scored, len(study.conditions) - 1)
    curves = simulate(power, family, n_permutations=permutations, seed=study.seed)
    puppets = [c for c, entry in study.conditions.items() if entry["context"] != "none"]
    asked = Asked(
        [*models], puppets, baseline, power["alpha"], power["target"], power["field_cost_usd"]
    )
    order = "design, task, effect, replicates, model, condition, n_users"
    tables.write_rows(outputs["power"], power_rows(curves, asked, sizes), PowerRow, order_by=order)
    tables.write_csv(outputs["power_csv"], outputs["power"])
    advice = list(advice_rows(curves, asked, sizes))
    tables.write_csv_rows(outputs["advice"], advice, PowerAdvice)
    labels = (drawing["models"], drawing["conditions"])
    facts = page.Facts(name, power["simulations"], asked.alpha, asked.target, items, *labels)
    with tables.atomic_path(outputs["page"]) as partial:
        partial.write_text(page.render(advice, facts), encoding="utf-8")


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        study=Study(
            snakemake.params.tasks,
            snakemake.params.conditions,
            snakemake.params.plan,
            folder=str(Path(snakemake.output.power).parents[1]),
            files=set(snakemake.input),
            responses=set(snakemake.params.answered),
            seed=snakemake.params.seed,
        ),
        models=snakemake.params.models,
        prices=snakemake.params.prices,
        power=snakemake.params.power,
        baseline=snakemake.params.baseline,
        permutations=snakemake.params.permutations,
        score_task=snakemake.params.score_task,
        drawing=snakemake.params.drawing,
        name=snakemake.params.name,
        outputs=dict(snakemake.output.items()),
    )
