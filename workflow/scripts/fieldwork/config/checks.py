"""How settings are checked that follow others: a row a mistake, with the sentence on it.

Rows stand in `study_checks` and `judging_checks`. Read while Snakemake parses the workflow, so it imports
no scientific package.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from fieldwork.config.layers import Config, values_at


class Spot(NamedTuple):
    """A setting that is checked.

    Attributes:
        value: its value, which is not null.
        around: what it stands in.
        keys: its keys from the top.
        config: all settings.
    """

    value: Any
    around: Any
    keys: tuple[str, ...]
    config: Config

    @property
    def name(self) -> str:
        """Its last key."""
        return self.keys[-1]

    def entry(self, registry: str) -> Any:
        """The entry of a registry that the setting names."""
        return self.config[registry][self.value]

    @property
    def scale(self) -> Any:
        """The scale of judgements that the setting names."""
        return self.config["judging"]["scales"][self.value]


class SettingCheck(NamedTuple):
    """A mistake in a setting.

    Attributes:
        setting: its keys from the top, where `*` stands for every entry.
        find: what is wrong there, for the sentence; nothing where all is right.
        sentence: what is wrong, and the way out; `detail` is what `find` gives.
        place: the setting that the sentence is about, where it is another one.
    """

    setting: str
    find: Callable[[Spot], Any]
    sentence: str
    place: str = ""


def broken_settings(config: Config, checks: Iterable[SettingCheck]) -> Iterator[str]:
    """What is wrong with a config, a sentence each, in the order of the checks."""
    for check in checks:
        for keys, value, around in values_at(config, check.setting.split(".")):
            spot = Spot(value, around, keys, config)
            if value is not None and (detail := check.find(spot)):
                entry = ".".join(keys[:-1])
                words = {**spot._asdict(), "name": spot.name, "detail": detail, "entry": entry}
                place = check.place.format(**words) or ".".join(keys)
                yield f"{place}: {check.sentence.format(**words)}"


def option_texts(options: Iterable[Any]) -> list[str]:
    """Options as texts, whatever YAML makes of them."""
    return [*map(str, options)]


def repeated_text(texts: Iterable[str]) -> str | None:
    """The first text that stands twice."""
    texts = [*texts]
    return next((text for text in texts if texts.count(text) > 1), None)
