"""What is true of users, from a file of the study's author."""

from collections.abc import Iterator

from fieldwork.files.texts import read_table
from fieldwork.pseudonyms import user_key, user_pseudonym


def read_reference(path: str, key_file: str | None) -> Iterator[dict[str, str]]:
    """Rows of `user_id` and `attribute`, the ids as the study's tables have them.

    Args:
        key_file: of the pseudonyms of the corpus; None where its ids are public.

    Raises:
        StudyError: a file cannot be read.
    """
    key = user_key(key_file)
    for row in read_table(path, ("user_id", "attribute")):
        yield {**row, "user_id": user_pseudonym(row["user_id"], key)}
