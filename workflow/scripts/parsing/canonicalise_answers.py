"""Give options written differently one name, over all models and conditions and the field.

Options that few people wrote have a number in place of their words.

In: parsed answers, the field's answers, aliases, a person's overrides, questions.
Out: <results>/answers/answers.parquet and <results>/answers/items.csv.
"""

from fieldwork import stage, tables
from fieldwork.parsing.answers import apply_merges, merge_items
from fieldwork.parsing.canonical import read_aliases
from fieldwork.parsing.corrections import log_unused, read_corrections
from fieldwork.parsing.rare_options import number_rare_options
from fieldwork.records.parsing import Answer, MergedItem


def main(
    parsed_answers: list[str],
    field: list[str],
    aliases: list[str],
    overrides: list[str],
    questions: list[str],
    answers: str,
    merges: str,
    near_duplicates: float,
    cut_lists: bool,
    smallest_cell: int,
) -> None:
    """Merge, apply, write; the field, aliases and overrides are a file each, or none."""
    rows = [row for path in [*parsed_answers, *field] for row in tables.read_rows(path, Answer)]
    corrections = read_corrections(overrides)
    log_unused(rows, corrections.readings)
    names = {"aliases": read_aliases(aliases), "overrides": corrections.names}
    merged_items = merge_items(rows, **names, threshold=near_duplicates)
    numbering = number_rare_options(
        apply_merges(rows, merged_items, is_cut=cut_lists),
        merged_items,
        tables.read_questions(questions),
        smallest_cell,
    )
    tables.write_table(answers, numbering.answers, Answer)
    tables.write_table(merges, numbering.merges, MergedItem)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
