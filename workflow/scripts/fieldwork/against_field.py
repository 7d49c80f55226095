"""Rows of the tables that hold simulated users, and groups of real ones, against the field.

Owns their columns and nothing else: a table of these is declared, checked and described as any other.
"""

from dataclasses import dataclass

from fieldwork.records import column


@dataclass(frozen=True, slots=True)
class Calibration:
    """How near to the field weighted puppets come, beside others: `results/metrics/calibration`."""

    model: str = column("model")
    tasks: str = column("the tasks whose prompts are used, with commas between")
    level: str = column("what is weighted: `conditions`, or the `puppets` of one")
    puppets_of: str | None = column("the condition whose puppets are weighted, NULL for conditions")
    comparator: str = column(
        "what is set beside the field: `calibrated`, `equal` (equal weights), `arm`, or `field` itself"
    )
    arm: str | None = column("the condition, where the comparator is one")
    js_bits: float | None = column(
        "mean Jensen-Shannon divergence from the field, prompts held out, equal n; NULL with a reason"
    )
    in_sample_bits: float | None = column("calibrated: the same on the prompts it was fitted on")
    overfit_bits: float | None = column("calibrated: js_bits - in_sample_bits")
    excess_bits: float | None = column("js_bits less that of the field from itself")
    excess_low: float | None = column("lower end of the 95 % interval of excess_bits")
    excess_high: float | None = column("upper end of the 95 % interval of excess_bits")
    split_low: float | None = column("field: lower end of the range of 95 % of single splits")
    split_high: float | None = column("field: upper end of that range")
    gain_bits: float | None = column("js_bits less that of `calibrated`: how much nearer that is")
    ci_low: float | None = column("lower end of the 95 % interval of gain_bits")
    ci_high: float | None = column("upper end of the 95 % interval of gain_bits")
    p_value: float | None = column("best: sign flips over prompts, that its gain is 0")
    p_holm: float | None = column("`p_value` corrected over what is weighted for the model (Holm)")
    is_best: bool = column("of arms and equal weights the nearest to the field, with hindsight")
    n_prompts: int = column("prompts used")
    n_field: int = column("fewest independent answers of the field to one of them")
    n_equal: int = column("fewest answers that all were brought to for one of them")
    n_folds: int | None = column("folds of prompts, NULL where nothing was fitted here")
    n_members: int | None = column("calibrated: conditions or puppets that have a weight")
    n_effective: float | None = column(
        "calibrated: 1 / sum of squared weights, of all prompts' fit"
    )
    penalty_bits: float | None = column(
        "calibrated: price of a bit away from equal weights; NULL for none, or for equal weights alone"
    )
    duality_gap: float | None = column("calibrated: bits that the fit is from its optimum, at most")
    weights_from: str | None = column("file the weights were taken from, NULL where fitted here")
    verdict: str | None = column("calibrated: `calibrated`, `no better` or `cannot support`")
    reason: str | None = column("why that verdict, or why there is no number")


@dataclass(frozen=True, slots=True)
class CalibrationItem:
    """The same, prompt by prompt: `results/metrics/calibration_items`."""

    model: str = column("model")
    level: str = column("as in `calibration`")
    puppets_of: str | None = column("as in `calibration`")
    comparator: str = column("as in `calibration`")
    arm: str | None = column("as in `calibration`")
    task: str = column("task")
    item_id: str = column("the item")
    js_bits: float = column(
        "divergence from the field, bits; where fitted, with this prompt held out"
    )
    in_sample_bits: float | None = column("calibrated: with this prompt among those fitted on")
    n_field: int = column("independent answers of the field")
    n_equal: int = column("answers that all were brought to")


@dataclass(frozen=True, slots=True)
class CalibrationWeight:
    """A weight another study can take over: `results/metrics/calibration_weights`."""

    model: str = column("model")
    level: str = column("`conditions` or `puppets`")
    condition: str = column("the condition that is weighted, or whose puppet is")
    puppet_id: str | None = column("the puppet, NULL for a condition")
    weight: float | None = column(
        "share of the mixture, adding up to 1; NULL where the verdict is not `calibrated`"
    )
    fold_low: float | None = column("smallest weight in a fit without one fold of prompts")
    fold_high: float | None = column("largest such weight")
    verdict: str = column("as in `calibration`")
    reason: str | None = column("why there is no weight")


@dataclass(frozen=True, slots=True)
class CalibratedShare:
    """Shares of answers as calibrated, for use: `results/metrics/calibrated_shares`."""

    model: str = column("model")
    level: str = column("what is weighted: `conditions` or `puppets`")
    puppets_of: str | None = column("the condition whose puppets are weighted, NULL for conditions")
    task: str = column("task")
    item_id: str = column("the item")
    answer: str = column("canonical option, letter or `unknown`")
    share: float | None = column("share of mentions in the calibrated mixture, NULL with a reason")
    baseline_share: float | None = column("share of mentions under the baseline condition")
    field_share: float | None = column(
        "share of mentions in the field, NULL where it has no answer"
    )
    reason: str | None = column("why there is no calibrated share, or what speaks against it")
