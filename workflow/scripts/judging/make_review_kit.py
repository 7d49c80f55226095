"""Write what people judge with: the page, workbooks, files for Label Studio, and the papers beside them.

In: the units, and the templates of resources/review_kit. Out: <results>/review_kit.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.answer_pages import read_template
from fieldwork.files import texts
from fieldwork.judging.kit.allocation import allot_units, sharing_sentence
from fieldwork.judging.kit.files import (
    KitSources,
    kit_texts,
    label_studio_texts,
    name_of,
)
from fieldwork.judging.kit.questions import ReviewKit, rater_questions
from fieldwork.judging.kit.spreadsheets import write_workbooks
from fieldwork.judging.units import drawn_units
from fieldwork.page_texts import read_words
from fieldwork.records.judging import Allotment, UnitText
from fieldwork.sections.judging import Scale, UnitSharing


def main(
    inputs: dict[str, str],
    unit_texts: list[str],
    outputs: dict[str, str],
    study_name: str,
    entries: dict[str, Any],
    scales: dict[str, Scale],
    sharing: UnitSharing,
    seed: int,
) -> None:
    """Allot and write."""
    units = {Path(p).stem: drawn_units(tables.read_rows(p, UnitText)) for p in unit_texts}
    words = read_words(inputs["texts"], inputs["shipped_texts"])
    questions = rater_questions(entries, units, scales, words)
    allotments = [a for name in entries for a in allot_units(units[name], sharing, name, seed=seed)]
    kit = ReviewKit(study_name, questions, allotments)
    sources = KitSources(
        read_template(inputs),
        words,
        texts.read_text(inputs["consent"]),
        name_of(inputs["consent"]),
        texts.read_text(inputs["readme_template"]),
        inputs["readme_template"],
    )
    folder = Path(outputs["page"]).parent
    kit_files = kit_texts(kit, sources, sharing_sentence(sharing))
    for name, text in (kit_files | label_studio_texts(kit, words)).items():
        tables.write_text(folder / name, text)
    write_workbooks(kit, Path(outputs["spreadsheets"]))
    tables.write_table(outputs["allocation"], allotments, Allotment)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
