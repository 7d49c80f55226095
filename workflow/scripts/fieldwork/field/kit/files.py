"""The kit's files as texts: the survey in each form, its column maps, and the papers beside them."""

import logging
from collections.abc import Mapping
from pathlib import Path

from fieldwork import answer_pages, page_texts
from fieldwork.field.kit import documents, qualtrics, web_page
from fieldwork.field.kit.survey import Survey, page_map, qualtrics_map
from fieldwork.files import texts
from fieldwork.page_templates import fill

logger = logging.getLogger(__name__)


def kit_texts(survey: Survey, sources: Mapping[str, str]) -> dict[str, str]:
    """The texts of the kit's files, by name; a consent that someone must still write is warned of.

    Args:
        sources: paths of the templates and texts, by the names of the rule's inputs.

    Raises:
        StudyError: a file cannot be read, or is not the template or the list of texts that it should be.
    """
    words = page_texts.read_words(sources["texts"], sources["shipped_texts"])
    consent = texts.read_text(sources["consent"])
    drafts = [Path(sources["consent"]).name] if page_texts.is_draft(consent) else []
    facts = documents.template_values(survey, [*drafts, "information.md"])
    ids = qualtrics.question_ids(survey)
    by_page = page_map(survey, "resources/field/page")
    by_qualtrics = qualtrics_map(survey, "resources/field/qualtrics", ids, words["agree"])
    for draft in drafts:
        logger.warning(
            "%s: replace what is marked REPLACE before anyone sees the survey (or name your own "
            "text in field_kit.consent), and run `snakemake field_kit` again",
            draft,
        )
    return {
        "survey": answer_pages.render(
            answer_pages.read_template(sources),
            web_page.survey_content(survey, words),
            words,
            consent,
        ),
        "qualtrics": qualtrics.render(survey, words, consent),
        "page_map": documents.column_map(survey.study, by_page, documents.PAGE_MAP),
        "qualtrics_map": documents.column_map(survey.study, by_qualtrics, documents.QUALTRICS_MAP),
        "information": _fill(sources["information_template"], facts),
        "readme": _fill(sources["readme_template"], facts),
    }


def _fill(path: str, facts: Mapping[str, str]) -> str:
    return fill(texts.read_text(path), facts, path)
