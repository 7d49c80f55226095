"""Rows of the tables that set conditions beside each other, as `records` has those of the others.

Owns their columns and nothing else: a table of these is declared, checked and described as any other.
"""

from dataclasses import dataclass

from fieldwork.records import column


@dataclass(frozen=True, slots=True)
class SubjectVariance:
    """Who asks, subject by subject of a choice task: `results/metrics/subjects`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition, with puppets")
    subject: str = column("subject of the items")
    category: str | None = column("category of the subject, NULL where the file has none")
    var_who: float | None = column("variance between puppets within a prompt; can fall below 0")
    var_rerun: float | None = column("variance between answers of one puppet to one prompt")
    var_answers: float | None = column("var_who + var_rerun: variance of answers to one prompt")
    share_who: float | None = column("var_who / var_answers, NULL where answers do not vary")
    n_items: int = column("items with an answer")
    n_puppets: int = column("puppets with an answer")
    reason: str | None = column("why there is no `var_who`")


@dataclass(frozen=True, slots=True)
class CategoryVariance:
    """Who asks, by category of subject: `results/metrics/categories`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition, with puppets")
    category: str = column("category of subjects")
    var_who: float | None = column("mean of the subjects' `var_who`, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval over subjects")
    ci_high: float | None = column("upper end of the 95 % interval over subjects")
    p_value: float | None = column(
        "test that all categories of this model, task and condition are alike"
    )
    p_holm: float | None = column("`p_value` corrected over the conditions (Holm)")
    n_subjects: int = column("subjects with a `var_who`")
    n_items: int = column("their items")
    unit: str = column("unit of the interval and the test")
    reason: str | None = column("why there is no estimate, interval or test")
