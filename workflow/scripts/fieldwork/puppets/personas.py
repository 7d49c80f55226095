"""Profile puppets: a persona description with sentences a user might say of themselves."""

from collections.abc import Sequence
from string import Template

from fieldwork.errors import StudyError
from fieldwork.keyed_order import KeyedPool
from fieldwork.records.puppets import Profile


def build_profiles(
    personas: Sequence[str],
    sentences: Sequence[str],
    *,
    n_profiles: int,
    sentences_per_profile: int,
    template: str,
    seed: int,
) -> list[Profile]:
    """Draw profiles by seed: personas without replacement, sentences without repeats in one profile.

    A persona keeps its sentences, and its place before another, in every larger source. Duplicates among
    personas and sentences are removed, ignoring case and the order of the source.

    Args:
        template: text with `$persona` and, unless profiles have no sentences, `$sentences`.

    Raises:
        StudyError: too few personas or sentences, or the template lacks a placeholder.
    """
    _check_template(template, {"persona", "sentences"} if sentences_per_profile else {"persona"})
    distinct_personas = distinct_texts(personas)
    distinct_sentences = distinct_texts(sentences)
    if len(distinct_personas) < n_profiles:
        raise StudyError(
            f"{n_profiles} profiles are needed (the largest tasks.*.runs), but profiles.personas has "
            f"only {len(distinct_personas)} distinct personas; lower runs or use a larger source"
        )
    if len(distinct_sentences) < sentences_per_profile:
        raise StudyError(
            f"profiles.sentences_per_profile is {sentences_per_profile}, but profiles.sentences has only "
            f"{len(distinct_sentences)} distinct sentences; lower it or use a larger source"
        )
    chosen_personas = KeyedPool(distinct_personas).draw(n_profiles, seed, "personas")
    sentence_pool = KeyedPool(distinct_sentences)
    profiles = []
    for index, persona in enumerate(chosen_personas):
        choice = sentence_pool.draw(sentences_per_profile, seed, "sentences", persona)
        text = Template(template).substitute(persona=persona, sentences=" ".join(choice))
        profiles.append(Profile(f"profile-{index:06d}", persona, choice, text.strip()))
    return profiles


def _check_template(template: str, required_placeholders: set[str]) -> None:
    placeholders = set(Template(template).get_identifiers())
    if not Template(template).is_valid() or placeholders - {"persona", "sentences"}:
        raise StudyError(
            "profiles.template: the only placeholders are $persona and $sentences; correct any other, "
            "and write $$ for a dollar sign"
        )
    for name in sorted(required_placeholders - placeholders):
        raise StudyError(f"profiles.template: lacks ${name}; write it where the {name} shall stand")


def distinct_texts(texts: Sequence[str]) -> list[str]:
    """The texts in alphabetical order, without empty ones and without repeats that differ in case."""
    text_by_folding: dict[str, str] = {}
    for text in sorted(t.strip() for t in texts if t and t.strip()):
        text_by_folding.setdefault(text.casefold(), text)
    return sorted(text_by_folding.values())
