"""What a deletion did, in sentences for the person who runs it. None of them quotes an id."""

from collections.abc import Iterator

from fieldwork.field.deletion.forgetting import DeletionOutcome
from fieldwork.field.deletion.ids import LEAST_LENGTH, is_distinctive, without_ids
from fieldwork.field.deletion.plan import DeletionPlan
from fieldwork.field.deletion.record import Action
from fieldwork.field.deletion.site import IDS, RECORD, Site


def account_of(outcome: DeletionOutcome, site: Site) -> Iterator[str]:
    """A line for each thing that a person must know, files that still hold a participant last."""
    yield from _deletion_sentences(outcome.plan)
    yield from _search_sentences(outcome)
    yield from _notice_sentences(outcome, site)
    yield from _remainder_sentences(outcome)
    if failure_of(outcome) is None:
        yield f"{RECORD} says what was deleted, under pseudonyms. {IDS} was deleted."


def failure_of(outcome: DeletionOutcome) -> str | None:
    """Why a deletion is not finished; None where it is."""
    if not outcome.is_clean():
        return (
            f"{IDS}: the deletion is not finished. {_n_left(outcome)} file(s) still hold a participant, "
            f"and {len(outcome.search.obstacles)} could not be searched; they are listed above. Correct "
            f"these, and run `snakemake forget` again"
        )
    if not outcome.is_alone:
        return (
            f"{IDS}: another run began in this folder meanwhile, and may have written what was deleted; "
            f"wait until it ends, and run `snakemake forget` again"
        )
    return None


def _n_left(outcome: DeletionOutcome) -> int:
    return len({*outcome.search.holders, *outcome.rows})


_SENTENCES: dict[Action, str] = {
    "rows deleted": "{n} row(s) deleted",
    "file deleted": "deleted, as it holds nobody else",
    "results deleted": "all {n} file(s) that were computed there were deleted",
    "deleted": "deleted",
}


def _deletion_sentences(plan: DeletionPlan) -> Iterator[str]:
    yield f"Participants to delete: {len(plan.people)}."
    for place, action, numbers, _ in plan.steps:
        n = max(numbers.values()) if action == "results deleted" else sum(numbers.values())
        yield f"  {without_ids(str(place), plan.people)}: {_SENTENCES[action].format(n=n)}."
    if not plan.steps:
        yield "  Nothing was left to delete: an earlier run deleted it."
    elif plan.places("results deleted"):
        yield "`snakemake all` makes the results again, without these participants."


def _search_sentences(outcome: DeletionOutcome) -> Iterator[str]:
    n_left = _n_left(outcome)
    yield (
        f"{outcome.search.n_files} files were searched: all of results, logs, .snakemake, "
        f"resources/field and resources/downloads/osf, and the files next to the field's own. "
        f"{n_left or 'None'} of them {'hold' if n_left else 'holds'} an id or a pseudonym."
    )
    if not all(map(is_distinctive, outcome.plan.people)):
        yield (
            f"An id of at least {LEAST_LENGTH} characters with a letter and a digit, or with an @, is "
            f"searched for in every file. Any other id could match something else by chance: it is "
            f"compared with the participants' column, and elsewhere its pseudonym is searched for."
        )


def _notice_sentences(outcome: DeletionOutcome, site: Site) -> Iterator[str]:
    """What may still hold a participant where this command does not reach."""
    plan = outcome.plan
    if site.manifest is not None and (plan.places("rows deleted") or plan.places("file deleted")):
        yield (
            f"The project on OSF still holds what was deleted from its copy in {site.manifest.parent}. "
            f"Delete it there too: a new download brings it back, and the import would then stop."
        )
    if plan.places("results deleted"):
        yield (
            "Archives, reports and exports of these studies that were uploaded (to OSF, too) or given "
            "away still count the participants: delete these there, and make new ones."
        )
    if outcome.ambiguous_files:
        names = ", ".join(without_ids(str(path), plan.people) for path in outcome.ambiguous_files)
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


def _remainder_sentences(outcome: DeletionOutcome) -> Iterator[str]:
    ids = outcome.plan.people
    for path in sorted({*outcome.search.holders, *outcome.rows}):
        rows, name = outcome.rows.get(path), without_ids(str(path), ids)
        row_list = f" in row(s) {', '.join(map(str, rows))}" if rows else ""
        remedy = "take the id out there" if rows else "delete the file, or take the id out of it"
        remedy += "; if only its name holds the id, rename it" if name != str(path) else ""
        yield f"LEFT: {name} still holds a participant{row_list}; {remedy}."
    for path, reason in sorted(outcome.search.obstacles.items()):
        yield (
            f"NOT SEARCHED: {without_ids(str(path), ids)} {reason}; make it readable, move it out of "
            f"this folder or delete it."
        )
