"""The kit's papers: a README that says what each file is, participant information, and column maps."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from fieldwork.field.kit.size import times_text
from fieldwork.field.kit.survey import Survey
from fieldwork.markdown_text import literal

PAGE_MAP = """
The files that participants saved from survey.html, all in one folder:
  snakemake all --configfile YOUR_STUDY.yaml results/{study}/field_kit/field_page.yaml
Columns `started`, `ended` and `survey` are in the files and are not imported.
"""

QUALTRICS_MAP = """
An export of survey_qualtrics.txt, as CSV with choice text, in a folder:
  snakemake all --configfile YOUR_STUDY.yaml results/{study}/field_kit/field_qualtrics.yaml
"""


def template_values(survey: Survey, drafts: Sequence[str]) -> dict[str, str]:
    """The values of the placeholders in the templates of README and participant information.

    Args:
        drafts: files in which a person must still replace something.
    """
    questions = len(survey.questions)
    groups = [f"`{question.variable}`" for question in survey.questions]
    return {
        "study": survey.study,
        "n_prompts": str(len(survey.prompts)),
        "n_repeats": times_text(survey.repeats),
        "n_questions": f"{questions} question{'s' if questions != 1 else ''} about yourself"
        if questions
        else "no questions about yourself",
        "platforms": literal(", ".join(survey.platforms.values())),
        "groups": ", ".join(groups) or "none",
        "prompts": "\n\n".join(_quotation(prompt.text) for prompt in survey.prompts),
        "drafts": ", ".join(drafts) or "none",
    }


def _quotation(text: str) -> str:
    return "\n".join(f"> {literal(line)}".rstrip() for line in text.strip().splitlines())


def column_map(study: str, setting: Mapping[str, Any], comment: str) -> str:
    """A study file with the setting `field`, under a comment of one or more lines.

    Args:
        study: name of the study that the field's answers join.
        comment: may name it as `{study}`.
    """
    head = "".join(f"# {line}\n" for line in comment.format(study=study).strip().splitlines())
    return head + yaml.safe_dump(
        {"study": {"name": study}, "field": dict(setting)},
        sort_keys=False,
        allow_unicode=True,
        width=110,
    )
