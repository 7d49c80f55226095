"""Hold what is known of users against what is true of them.

In: attributes, before and after they are verified, and the reference. Out:
<results>/metrics/memory_matches.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import VECTORS, Encoder
from fieldwork.encoder_settings import settings_of
from fieldwork.memory.reference import read_reference
from fieldwork.metrics.memory_matches import match_rows
from fieldwork.records.memory import Attribute, MemoryMatch, MemoryStage, MemoryUser


def main(
    attributes: str,
    verified_attributes: list[str],
    users: str,
    reference: list[str],
    key_file: str | None,
    memory_matches: str,
    match_above: float,
    rarest_users: float,
    encoder_choice: list[str],
    embedding: dict[str, Any],
    threads: int,
) -> None:
    """Match and write."""
    encoder = Encoder(settings_of(embedding, threads, encoder_choice), VECTORS / "memory.sqlite")
    stages: dict[MemoryStage, list[Attribute]] = {"read": tables.read_rows(attributes, Attribute)}
    for path in verified_attributes:
        stages["verified"] = tables.read_rows(path, Attribute)
    rows = match_rows(
        stages,
        [user.user_id for user in tables.read_rows(users, MemoryUser)],
        [row for path in reference for row in read_reference(path, key_file)],
        encoder.encode,
        match_above=match_above,
        rarest_users=rarest_users,
    )
    tables.write_table(memory_matches, list(rows), MemoryMatch)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
