"""Make the contexts that a condition's puppets bring to a task.

In: conversations, their vectors, items, profiles: what the condition needs of them.
Out: <results>/contexts/{task}/{condition}.parquet.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import VECTORS, Encoder
from fieldwork.encoder_settings import settings_of
from fieldwork.puppets.context_kinds import Materials, make_contexts
from fieldwork.records.puppets import Context
from fieldwork.sections.conditions import AnyCondition


def main(
    inputs: dict[str, str | list[str]],
    contexts: str,
    task: str,
    condition: str,
    settings: AnyCondition,
    number: int,
    n_puppets: int,
    encoder_choice: list[str],
    embedding: dict[str, Any],
    threads: int,
    seed: int,
) -> None:
    """Build and write the contexts of one condition."""

    def encoder() -> Encoder:
        store = VECTORS / "questions" / task / f"{condition}.sqlite"
        return Encoder(settings_of(embedding, threads, encoder_choice), store)

    rows = make_contexts(Materials(settings, number, n_puppets, seed, encoder, inputs))
    tables.write_table(contexts, rows, Context)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
