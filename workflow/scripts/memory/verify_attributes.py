"""Keep the attributes that raters would accept; in place of others take what is stated once more.

In: attributes, their learnt scores, what these were learnt from, and the model's new statements.
Out: <results>/memory/verified_attributes.parquet, verifications.parquet, and units for the judges.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.encoder import VECTORS, Encoder
from fieldwork.encoder_settings import settings_of
from fieldwork.judging.learning import Verifier
from fieldwork.judging.units import refined_units
from fieldwork.memory.verification import evidence_ids, refinements, verify
from fieldwork.records.generation import Response
from fieldwork.records.judging import Judgement, LearntScore, UnitText
from fieldwork.records.memory import Attribute, Verification
from fieldwork.records.puppets import Conversation
from fieldwork.sections.judging import Scale


def main(
    attributes: str,
    conversations: str,
    scores: list[str],
    texts: list[str],
    judgements: list[str],
    responses: list[str],
    outputs: dict[str, str],
    form: Any,
    keep_above: float,
    scale: Scale,
    encoder_choice: list[str],
    embedding: dict[str, Any],
    threads: int,
) -> None:
    """Verify, refine, write."""
    rows = tables.read_rows(attributes, Attribute)
    talks = tables.read_by_key(conversations, Conversation, "conversation_id", evidence_ids(rows))
    replies = [reply for path in responses for reply in tables.read_rows(path, Response)]
    new_attributes = refinements(rows, replies, talks, form)
    verifier = Verifier(
        tables.read_rows(texts[0], UnitText),
        tables.read_rows(judgements[0], Judgement),
        scale,
        Encoder(settings_of(embedding, threads, encoder_choice), VECTORS / "judging.sqlite").encode,
    )
    new_units = refined_units(new_attributes, talks)
    score_rows = tables.read_rows(scores[0], LearntScore)
    outcome = verify(rows, score_rows, new_attributes, verifier.scores(new_units), keep_above)
    ids = {attribute.attribute_id for attribute in outcome.attributes}
    tables.write_table(outputs["verified_attributes"], outcome.attributes, Attribute)
    tables.write_table(outputs["verifications"], outcome.verifications, Verification)
    texts_of_new = [unit for unit in new_units if unit.unit_id in ids]
    tables.write_table(outputs["refined_texts"], texts_of_new, UnitText)


if __name__ == "__main__":
    stage.run_script(main, snakemake)
