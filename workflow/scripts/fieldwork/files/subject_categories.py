"""Categories of subjects, such as those of MMLU, from a CSV file."""

from pathlib import Path

from fieldwork.files.texts import read_texts


def read_categories(path: str) -> dict[str, str]:
    """The category of each subject, from a file with the columns `subject` and `category`."""
    subjects, categories = (read_texts([Path(path)], name) for name in ("subject", "category"))
    return dict(zip(subjects, categories, strict=True))
