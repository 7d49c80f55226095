"""The values of a measure in an arm: of samples of options, or of numbers, in one form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fieldwork.estimates.means import Mean, PromptValue, mean_of_numbers, mean_over
from fieldwork.estimates.samples import NumberSample, OptionSample


class ArmValues(Protocol):
    """The values of one measure in one arm."""

    @property
    def items(self) -> Sequence[str]:
        """Prompts with a value, in alphabetical order."""

    @property
    def n_without(self) -> int:
        """Answers without what the measure takes."""

    @property
    def n_truncated(self) -> int | None:
        """Answers cut off."""

    @property
    def n_unstated(self) -> int:
        """Answers that state no probabilities, among others that do."""

    @property
    def run_size(self) -> int | None:
        """Prompts of a run, where runs are what is counted."""

    def mean(self, items: Sequence[str]) -> Mean:
        """The mean over some prompts, at least one."""

    def n_answers(self, items: Sequence[str]) -> int:
        """Answers to some prompts that count."""


@dataclass(frozen=True)
class OptionValues:
    """Values of samples of options, at equal n."""

    samples: Mapping[str, OptionSample]
    prompts: Mapping[str, PromptValue]
    n_truncated: int | None = None
    run_size: int | None = None

    @property
    def n_unstated(self) -> int:
        is_drawn = [sample.shares is None for sample in self.samples.values()]
        if all(is_drawn):
            return 0
        return sum(len(s.options) for s in self.samples.values() if s.shares is None)

    @property
    def items(self) -> Sequence[str]:
        return [*self.prompts]

    @property
    def n_without(self) -> int:
        return sum(sample.n_without for sample in self.samples.values())

    def mean(self, items: Sequence[str]) -> Mean:
        return mean_over([self.prompts[item] for item in items])

    def n_answers(self, items: Sequence[str]) -> int:
        return sum(len(self.samples[item].options) for item in items)


@dataclass(frozen=True)
class NumberValues:
    """Values that are means of numbers."""

    sample: NumberSample

    @property
    def items(self) -> Sequence[str]:
        return self.sample.item_names

    @property
    def n_without(self) -> int:
        return self.sample.n_without

    @property
    def n_truncated(self) -> int | None:
        return self.sample.n_truncated

    @property
    def n_unstated(self) -> int:
        return self.sample.n_unstated or 0

    @property
    def run_size(self) -> int | None:
        return self.sample.run_size

    def mean(self, items: Sequence[str]) -> Mean:
        mean = mean_of_numbers(self.sample.at(items))
        assert mean
        return mean

    def n_answers(self, items: Sequence[str]) -> int:
        return len(self.sample.at(items).values) * (self.run_size or 1)
