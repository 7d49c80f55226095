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
    parsed_answers: list[str],
    field: list[str],
    aliases: list[str],
    overrides: list[str],
    answers: str,
    merges: str,
    near_duplicates: float,
    cut_lists: bool,
) -> None:
    """Merge, apply, write; the field, aliases and overrides are a file each, or none."""
    rows = [
        answer for path in [*parsed_answers, *field] for answer in tables.read_rows(path, Answer)
    ]
    columns = ("task", "item_id", "canonical")
    aliases_of = [row for path in aliases for row in texts.read_table(path, (*columns, "written"))]
    merged_items = merge_items(
        rows,
        aliases=aliases_of,
        overrides=[
            row
            for path in overrides
            for row in plain_rows(texts.read_table(path, (*columns, "raw")))
        ],
        threshold=near_duplicates,
    )
    tables.write_table(answers, apply_merges(rows, merged_items, is_cut=cut_lists), Answer)
    tables.write_table(merges, merged_items, MergedItem)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
