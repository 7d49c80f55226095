"""What the page of findings says of a study's preregistration: when it was, and what changed since."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fieldwork.metrics.claims.preregistration import answers_before
from fieldwork.metrics.claims.registration_records import (
    Record,
    has_digest,
    missing_records,
    record_digest,
)
from fieldwork.metrics.claims.study_hashes import Hashes

MOST_NAMES = 8
"""Changes of a kind that the findings name; the record has the whole config and all hashes."""

_PACKING = frozenset(("archive", "archived"))


def registration_note(
    records: Sequence[Record], config: Mapping[str, Any], hashes: Hashes
) -> str | None:
    """What the page of findings says of the first record, in sentences; None without one.

    Args:
        records: as read from their files, the oldest first.
        config: as checked, made of what JSON knows.
        hashes: of the study as it is now.
    """
    if not records:
        return None
    first = records[0]
    more_records = f"; {len(records) - 1} more followed" if len(records) > 1 else ""
    time = f"{first['time'][:10]}, {answers_before(first)} (digest {record_digest(first)}{more_records})"
    return " ".join([*_missing(records), f"{time}.", *_changes(first, config, hashes)])


def _missing(records: Sequence[Record]) -> Iterator[str]:
    names = missing_records(records)
    if names:
        which = ", ".join(f"{name.time[:10]} (digest {name.digest})" for name in names)
        yield f"Missing records: {which}. Put copies back, such as those on OSF. First that is left:"


def _changes(first: Record, config: Mapping[str, Any], hashes: Hashes) -> Iterator[str]:
    """Sentences on what is other than in the first record, and on what was not compared."""
    settings = changed_settings(first, config)
    kinds = ("questions", "files", "code") if has_digest(first) else ()
    pairs = {kind: (first["hashes"][kind], hashes[kind]) for kind in kinds}
    changes = {"settings": settings} | {k: changed_names(*pair) for k, pair in pairs.items()}
    for kind, names in changes.items():
        if names:
            yield f"{kind.capitalize()} changed since: {_listing(names)}."
    if not any(changes.values()):
        yield f"No {'setting, question, file or code' if kinds else 'setting'} changed."
    if not kinds:
        yield (
            "An earlier version of Fieldwork wrote this record without hashes, so questions, files and "
            "code were not compared."
        )
    names = [name for pair in pairs.values() for name in unknown_names(*pair)]
    if names:
        yield f"Not compared, as the files are not here or were not: {_listing(names)}."


def _listing(names: Sequence[str]) -> str:
    rest = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*names[:MOST_NAMES], *rest])


def unknown_names(
    old_hashes: Mapping[str, str | None], hashes: Mapping[str, str | None]
) -> list[str]:
    """Names on both sides of which one hash is not known, in order: they cannot be compared."""
    names = sorted(old_hashes.keys() & hashes.keys())
    return [name for name in names if None in (old_hashes[name], hashes[name])]


def changed_names(
    old_hashes: Mapping[str, str | None], hashes: Mapping[str, str | None]
) -> list[str]:
    """Names with another hash, or with one on one side alone, in order."""
    names = sorted({*old_hashes, *hashes} - {*unknown_names(old_hashes, hashes)})
    return [name for name in names if old_hashes.get(name) != hashes.get(name)]


def changed_settings(record: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """Settings that are other than in the record, by their path, in order; how it is packed is none."""
    old, new = (
        {key: value for key, value in one.items() if key not in _PACKING}
        for one in (record["config"], config)
    )
    return [*_differences(old, new, "")]


def _differences(old_value: Any, value: Any, setting: str) -> Iterator[str]:
    if isinstance(old_value, dict) and isinstance(value, dict):
        for key in sorted(old_value.keys() | value.keys()):
            path = f"{setting}.{key}" if setting else key
            if key in old_value and key in value:
                yield from _differences(old_value[key], value[key], path)
            else:
                yield path
    elif old_value != value:
        yield setting
