"""Make the contexts that a condition's puppets bring to a task.

In: conversations, their vectors, items, profiles: what the condition needs of them.
Out: <results>/contexts/{task}/{condition}.parquet.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, streams, tables
from fieldwork.encoder import Encoder, settings_of
from fieldwork.puppets import contexts as puppets
from fieldwork.puppets.retrieval import ranking
from fieldwork.records.puppets import Context, Conversation, Profile
from fieldwork.records.tasks import Item


def main(
    inputs: dict[str, Any],
    contexts: str,
    condition: dict[str, Any],
    n_puppets: int,
    encoder: Encoder,
    seed: int,
) -> None:
    """Build and write the contexts of one condition."""
    told = inputs.get("profiles")
    profiles = tables.read_rows(told, Profile)[:n_puppets] if told else []
    if condition["context"] == "profile":
        made = puppets.profile_contexts(profiles, condition["role"])
    else:
        settings = puppets.HistorySettings(*map(condition.get, puppets.HistorySettings._fields))
        draws = draw(inputs, settings, condition["context"], n_puppets, encoder, seed)
        used = {i for one in draws for i in one.conversation_ids}
        rows = tables.read_lookup(inputs["conversations"], Conversation, "conversation_id", used)
        before = puppets.profiles_of(draws, profiles, condition["profile"])
        made = puppets.history_contexts(draws, rows, settings, before)
    tables.write_rows(contexts, made, Context, order_by="puppet_id, item_id NULLS FIRST")


def draw(
    inputs: dict[str, Any],
    settings: puppets.HistorySettings,
    kind: str,
    n_puppets: int,
    encoder: Encoder,
    seed: int,
) -> list[puppets.Draw]:
    """The conversations each puppet brings: at random, or the most relevant."""
    users = tables.read_groups(inputs["conversations"], "user_id", "conversation_id")
    if kind == "history":
        return puppets.draw_random(users, n_puppets, settings, seed)
    questions = {i.item_id: i.question for i in tables.read_rows(inputs["task"], Item)}
    found = encoder.encode(list(questions.values()), "embed questions")
    own = settings.pool == "user" and puppets.choose_users(users, n_puppets, settings, seed)
    rank = ranking(
        dict(zip(questions, found, strict=True)),
        streams.read_blocks(inputs["vectors"]),
        k=n_puppets * settings.conversations,
        among={i for user in own for i in users[user]} if own else None,
        threads=encoder.settings.threads,
    )
    return puppets.draw_relevant(
        users, list(questions), rank, n_puppets=n_puppets, settings=settings, seed=seed
    )


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        inputs=dict(snakemake.input.items()),
        contexts=snakemake.output.contexts,
        condition=snakemake.params.condition,
        n_puppets=snakemake.params.n_puppets,
        encoder=Encoder(
            settings_of(snakemake.params.embedding, snakemake.threads),
            Path("results/vectors/questions", "/".join(snakemake.wildcards) + ".sqlite"),
        ),
        seed=snakemake.params.seed,
    )
