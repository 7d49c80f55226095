"""What a deletion did, in sentences for the person who runs it. None of them quotes an id."""

from collections.abc import Iterator
from pathlib import Path

from fieldwork.field.deletion.forgetting import DeletionOutcome, Proof
from fieldwork.field.deletion.marks import LEAST_LENGTH, is_distinctive, without_ids
from fieldwork.field.deletion.plan import DeletionPlan
from fieldwork.field.deletion.site import Site


def account_of(outcome: DeletionOutcome, site: Site) -> Iterator[str]:
    """A line for each thing that a person must know, files that still hold a participant last."""
    plan, proof = outcome.plan, outcome.proof
    yield from _deletion_sentences(plan)
    yield from _search_sentences(plan, proof)
    yield from _notice_sentences(plan, proof, site)
    yield from _remainder_sentences(plan, proof)
    if outcome.is_finished():
        yield f"{site.record} says what was deleted, under pseudonyms. {site.ids} was deleted."


def failure_of(outcome: DeletionOutcome, site: Site) -> str | None:
    """Why a deletion is not finished; None where it is."""
    proof = outcome.proof
    if outcome.is_finished():
        return None
    if proof.is_clean():
        return (
            f"{site.ids}: another run began in this folder meanwhile, and may have written what was "
            f"deleted; wait until it ends, and run `snakemake forget` again"
        )
    n_left = len({*proof.search.holders, *proof.rows})
    n_unread = len(proof.search.obstacles)
    return (
        f"{site.ids}: the deletion is not finished. {n_left} file(s) still hold a participant, and "
        f"{n_unread} could not be searched; they are listed above. Correct these, and run "
        f"`snakemake forget` again"
    )


def _deletion_sentences(plan: DeletionPlan) -> Iterator[str]:
    ids = plan.ids()
    yield f"Participants to delete: {len(ids)}."
    for edit in plan.edits:
        place = without_ids(str(edit.raw.path), ids)
        whole_file = ", and with them the file, which held nobody else" if edit.is_whole else ""
        yield f"  {place}: {len(edit.rows)} row(s) deleted{whole_file}."
    for page in plan.pages:
        yield f"  {without_ids(str(page.path), ids)}: deleted; the survey page had saved it."
    for study, paths in plan.studies.items():
        yield f"  {study}: {len(paths)} file(s) computed from the field were deleted."
    for path in plan.other_files:
        yield f"  {without_ids(str(path), ids)}: deleted."
    is_empty_plan = not (plan.edits or plan.pages or plan.studies or plan.other_files)
    if is_empty_plan:
        yield "  Nothing was left to delete: an earlier run deleted it."
    elif plan.studies:
        yield "`snakemake all` makes the results again, without these participants."


def _search_sentences(plan: DeletionPlan, proof: Proof) -> Iterator[str]:
    n_left = len({*proof.search.holders, *proof.rows})
    yield (
        f"{proof.search.n_files} files were searched: all of results, logs, .snakemake, resources/field "
        f"and resources/downloads/osf, and the files next to the field's own. "
        f"{n_left or 'None'} of them {'hold' if n_left else 'holds'} an id or a pseudonym."
    )
    if any(not is_distinctive(participant_id) for participant_id in plan.ids()):
        yield (
            f"An id of at least {LEAST_LENGTH} characters with a letter and a digit, or with an @, is "
            f"searched for in every file. Any other id could match something else by chance: it is "
            f"compared with the participants' column, and elsewhere its pseudonym is searched for."
        )


def _notice_sentences(plan: DeletionPlan, proof: Proof, site: Site) -> Iterator[str]:
    ids = plan.ids()
    if site.manifest is not None and (plan.edits or plan.pages):
        yield (
            f"The project on OSF still holds what was deleted from its copy in {site.manifest.parent}. "
            f"Delete it there too: a new download brings it back, and the import would then stop."
        )
    archives = [study for study, paths in plan.studies.items() if any(map(_is_archived, paths))]
    for study in archives:
        yield (
            f"The archive of {study} was deleted too. Copies of it that were uploaded or given away "
            f"still count the participants: delete these there, and make a new one with `snakemake "
            f"archive`."
        )
    if proof.ambiguous_files:
        names = ", ".join(without_ids(str(path), ids) for path in proof.ambiguous_files)
        yield (
            f"An id that is short or a word also appears in {names}. It may mean another person or "
            f"another thing there: check, and delete what belongs to the participant."
        )
    for study in plan.unexplained_studies:
        yield (
            f"{study} holds field answers of people who are not in the files read here, or whose "
            f"pseudonyms have another key. If a participant took part there too, run `snakemake "
            f"forget` with that study's --configfile, or delete the folder."
        )


def _is_archived(path: Path) -> bool:
    return "archive" in path.parts


def _remainder_sentences(plan: DeletionPlan, proof: Proof) -> Iterator[str]:
    ids = plan.ids()
    for path in sorted({*proof.search.holders, *proof.rows}):
        rows = proof.rows.get(path)
        row_list = f" in row(s) {', '.join(map(str, rows))}" if rows else ""
        remedy = "take the id out there" if rows else "delete the file, or take the id out of it"
        if without_ids(str(path), ids) != str(path):
            remedy += "; if only its name holds the id, rename it"
        yield f"LEFT: {without_ids(str(path), ids)} still holds a participant{row_list}; {remedy}."
    for path, reason in sorted(proof.search.obstacles.items()):
        yield (
            f"NOT SEARCHED: {without_ids(str(path), ids)} {reason}; make it readable, move it out of "
            f"this folder or delete it."
        )
