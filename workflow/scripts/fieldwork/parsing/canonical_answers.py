"""Answers with one name for all spellings of an option, and without the words that few people wrote."""

from collections.abc import Mapping, Sequence

from fieldwork.cells import mark_counted
from fieldwork.parsing.answers import apply_merges, merge_items
from fieldwork.parsing.rare_options import NumberedAnswers, number_rare_options
from fieldwork.records.parsing import Answer
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from fieldwork.sections.asking import NameRules


def name_options(
    answers: Sequence[Answer],
    items: Mapping[ItemKey, Item],
    rules: NameRules,
    *,
    smallest_cell: int,
    aliases: Sequence[Mapping[str, str]],
    overrides: Sequence[Mapping[str, str]],
) -> NumberedAnswers:
    """The answers with canonical options and which of them count, and how spellings were merged.

    Args:
        items: those whose candidate answers people may write; others are as good as without.
        smallest_cell: people from whom an option of the field has its words.
        aliases, overrides: as in `answers.merge_items`.

    Raises:
        StudyError: aliases or overrides lack a column.
    """
    threshold = rules.near_duplicates
    merges = merge_items(answers, aliases=aliases, overrides=overrides, threshold=threshold)
    named_answers = apply_merges(answers, merges, is_cut=rules.cut_lists)
    names = number_rare_options(named_answers, merges, items, smallest_cell)
    return names._replace(answers=mark_counted(names.answers))
