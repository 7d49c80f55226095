"""Give options written differently one name, over all models and conditions and the field.

In: parsed answers, the field's answers, aliases, a person's overrides.
Out: <results>/answers/answers.parquet and <results>/answers/items.csv.
"""

from fieldwork import stage, tables
from fieldwork.files import texts
from fieldwork.files.cells import plain_rows
from fieldwork.parsing.answers import apply_merges, merge_items
from fieldwork.records.parsing import Answer, MergedItem


def main(
    parsed: list[str],
    field: str,
    aliases: str,
    overrides: str,
    answers: str,
    items: str,
    near_duplicates: float,
) -> None:
    """Merge, apply, write."""
    rows = [answer for path in parsed for answer in tables.read_rows(path, Answer)]
    if field:
        rows += tables.read_rows(field, Answer)
    named = ("task", "item_id", "canonical")
    merges = merge_items(
        rows,
        aliases=texts.read_table(aliases, (*named, "written")) if aliases else [],
        overrides=plain_rows(texts.read_table(overrides, (*named, "raw"))) if overrides else [],
        threshold=near_duplicates,
    )
    order = "model, task, condition, item_id, puppet_id NULLS FIRST, replicate"
    tables.write_rows(answers, apply_merges(rows, merges), Answer, order_by=order)
    tables.write_csv_rows(items, merges, MergedItem)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        parsed=list(snakemake.input.parsed),
        field=str(snakemake.input.field or ""),
        aliases=str(snakemake.input.aliases or ""),
        overrides=str(snakemake.input.overrides or ""),
        answers=snakemake.output.answers,
        items=snakemake.output.merged,
        near_duplicates=snakemake.params.near_duplicates,
    )
