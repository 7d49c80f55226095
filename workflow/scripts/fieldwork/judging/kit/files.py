"""The kit's files as texts, by name; the workbooks are written apart."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fieldwork.answer_pages import PageTemplate, render
from fieldwork.errors import StudyError
from fieldwork.judging.kit import label_studio, page
from fieldwork.judging.kit.questions import (
    ReviewKit,
    label_studio_sources,
    page_sources,
    sheet_sources,
)
from fieldwork.page_templates import fill
from fieldwork.page_texts import is_draft
from fieldwork.records.judging import RaterPrecision

logger = logging.getLogger(__name__)

FOLDER = "resources/judging"
"""Where the files of raters come back to."""


class KitSources(NamedTuple):
    """What the kit is written with, besides its units.

    Attributes:
        template: the page as it is shipped.
        words: its texts, by name.
        consent: what raters agree to.
        consent_name: its file's name.
        readme, readme_name: the template of the README, and its file.
    """

    template: PageTemplate
    words: Mapping[str, str]
    consent: str
    consent_name: str
    readme: str
    readme_name: str


def kit_texts(kit: ReviewKit, sources: KitSources, sharing: str) -> dict[str, str]:
    """The texts of the kit's files, by their names; a consent that someone must write is warned of.

    Args:
        sharing: how units are shared among raters, a sentence or two.

    Raises:
        StudyError: there is no unit, or a template has an unknown placeholder.
    """
    drafts = [sources.consent_name] if is_draft(sources.consent) else []
    for draft in drafts:
        logger.warning(
            "%s: replace what is marked REPLACE before anyone sees the page (or name your own text in "
            "judging.kit.consent), and run `snakemake review_kit` again",
            draft,
        )
    if not kit.raters:
        names = ", ".join(question.name for question in kit.questions) or "none"
        raise StudyError(
            f"judging.units: none of its entries ({names}) has anything to judge; look whether users "
            f"have attributes and the conditions have answers, correct the entries, and run "
            f"`snakemake review_kit` again"
        )
    facts = {
        "study": kit.study,
        "n_raters": str(len(kit.raters)),
        "n_units": str(sum(len(question.units) for question in kit.questions)),
        "raters": f"`{kit.raters[0]}` to `{kit.raters[-1]}`",
        "first_rater": kit.raters[0],
        "drafts": ", ".join(drafts) or "none",
        "sharing": sharing,
    }
    return {
        "review.html": render(
            sources.template,
            page.review_content(kit, sources.words),
            sources.words,
            sources.consent,
        ),
        "review_page.yaml": _map(kit, page_sources(f"{FOLDER}/page")),
        "review_spreadsheets.yaml": _map(
            kit, sheet_sources(kit.questions, f"{FOLDER}/spreadsheets")
        ),
        "review_label_studio.yaml": _map(
            kit, label_studio_sources(kit.questions, f"{FOLDER}/label_studio")
        ),
        "README.md": fill(sources.readme, facts, sources.readme_name),
    }


def label_studio_texts(kit: ReviewKit, words: Mapping[str, str]) -> dict[str, str]:
    """The files for Label Studio, by their names in the kit."""
    files = {}
    for question in kit.questions:
        if question.units:
            files[f"label_studio/{question.name}.json"] = label_studio.tasks(question)
            files[f"label_studio/{question.name}.xml"] = label_studio.configuration(question, words)
    return files


def _map(kit: ReviewKit, sources: Mapping[str, Any]) -> str:
    """A study file with the sources of the answers."""
    setting = {"study": {"name": kit.study}, "judging": {"sources": dict(sources)}}
    head = (
        "# The answers of raters. Give it after the study's own file:\n"
        f"#   snakemake all --configfile YOUR_STUDY.yaml results/{kit.study}/review_kit/THIS_FILE\n"
    )
    return head + yaml.safe_dump(setting, sort_keys=False, allow_unicode=True, width=110)


def precision_page(rows: Sequence[RaterPrecision], per_rater: int, likeness: float) -> str:
    """What to expect, in words and a table."""
    head = _PRECISION.format(per_rater=per_rater, likeness=likeness, kappa=rows[0].kappa)
    lines = [_line(_HEAD), _line(["---"] * len(_HEAD)), *(_line(_cells(row)) for row in rows)]
    return f"{head.strip()}\n\n" + "\n".join(lines) + "\n"


def _cells(row: RaterPrecision) -> list[str]:
    return [
        f"{row.share:.0%}",
        str(row.n_users),
        str(row.n_units),
        str(row.n_judgements),
        str(row.n_raters),
        f"± {100 * row.share_half_width:.0f} points",
        f"± {row.kappa_half_width:.2f}",
    ]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def name_of(path: str) -> str:
    """A file's name without its folders."""
    return Path(path).name


_HEAD = (
    "share that says yes",
    "users",
    "units",
    "judgements",
    "raters",
    "95 % interval of the share",
    "95 % interval of κ",
)

_PRECISION = """
# How precise judgements will be

Half the width of 95 % intervals, by the number of users and of units. A rater judges {per_rater} units.
Raters agree by κ = {kappa:g}, and units of a user are alike by {likeness:g}. These are assumptions
(`power.raters`); a pilot shows how it is. docs/methods.md, "Raters", has the formulas.

The interval of a share is over all units, that of κ over the units that several raters judge. Intervals
of the study itself leave out users and are somewhat wider where users are few.
"""
