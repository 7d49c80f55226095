"""Give options written differently one name, over all models and conditions and the field.

Options that few people wrote have a number in place of their words.

In: parsed answers, the field's answers, aliases, a person's overrides, questions.
Out: <results>/answers/answers.parquet and <results>/answers/items.csv.
"""

from fieldwork import stage, tables
from fieldwork.parsing.canonical import read_aliases
from fieldwork.parsing.canonical_answers import name_options
from fieldwork.parsing.corrections import log_unused, read_corrections
from fieldwork.records.parsing import Answer, MergedItem
from fieldwork.sections.asking import NameRules


def main(
    parsed_answers: list[str],
    field: list[str],
    aliases: list[str],
    overrides: list[str],
    questions: list[str],
    answers: str,
    merges: str,
    naming: NameRules,
    smallest_cell: int,
) -> None:
    """Merge, apply, write; the field, aliases and overrides are a file each, or none."""
    rows = [row for path in [*parsed_answers, *field] for row in tables.read_rows(path, Answer)]
    corrections = read_corrections(overrides)
    log_unused(rows, corrections.readings)
    names = name_options(
        rows,
        tables.read_questions(questions),
        naming,
        smallest_cell=smallest_cell,
        aliases=read_aliases(aliases),
        overrides=corrections.names,
    )
    tables.write_table(answers, names.answers, Answer)
    tables.write_table(merges, names.merges, MergedItem)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
