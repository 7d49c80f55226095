"""Rows of the tables of real users: their answers, and what is measured against them.

No row carries what a participant is called elsewhere: `participant_id` is a keyed hash, and the texts
are masked (docs/field.md).
"""

from collections.abc import Collection

from fieldwork.records.columns import Name, column, row, table
from fieldwork.records.tasks import ItemKind

FIELD = "field"
"""The condition of real users: they are paid, not called."""


def between(conditions: Collection[str]) -> str:
    """What lies between the answers of these conditions that are no repeats, in words.

    Real users are users. A simulated user is drawn once and has one context, a conversation, a history
    or a profile, so that nothing tells what comes from the user and what from the context.
    """
    if FIELD not in conditions:
        return "contexts"
    return "users" if set(conditions) == {FIELD} else "contexts or real users"


@table(
    "field/answers.parquet",
    "model, task, item_id, participant_id, replicate",
    part="field",
    name="field_answers",
)
class FieldAnswer:
    """An answer as a participant gave it, masked."""

    participant_id: Name = column("keyed hash of the participant's id")
    platform: Name | None = column(
        "what the participant used, as the file names it, NULL if not stated"
    )
    model: Name = column("model name in the config that `field.models` gives for it")
    task: Name = column("task of the prompt")
    item_id: Name = column("item of the prompt")
    replicate: int = column("how often the participant had answered this prompt before, from 0")
    position: int | None = column("place in the participant's own order of prompts, from 1")
    text: str | None = column(
        "the answer, masked, in Unicode form NFC; NULL where the cell is empty",
        holds="words of answers",
    )
    n_masked: int = column("e-mail addresses, telephone numbers, links and names masked in it")
    file: Name = column("name of the file it was read from")
    row: int = column("row of that file, as a spreadsheet counts them")
    flags: list[Name] = column("checks it failed (docs/field.md), none twice")
    excluded_for: Name | None = column("the first of them that the setting excludes; NULL if kept")


@table(
    "field/participants.parquet",
    "variable, participant_id",
    part="field",
    name="field_participants",
)
class Participant:
    """A group that a participant belongs to."""

    participant_id: Name = column("keyed hash of the participant's id")
    variable: Name = column("the variable that defines the groups, a key of `field.columns.groups`")
    group: str = column("the participant's group", holds="groups of users")


@table("field/quality.csv", part="field", name="field_quality")
class QualityCheck:
    """What one check found in the answers to one prompt."""

    model: Name = column("model")
    task: Name = column("task")
    item_id: Name = column("the item")
    check: Name = column("the check, `any` for answers that fail one or more")
    is_excluding: bool = column("whether the setting leaves out what fails it")
    n_answers: int = column("answers checked")
    n_flagged: int = column("of these, answers that fail the check")
    n_excluded: int = column("of these, answers left out because of it, each counted once")
    reason: Name = column("why it is excluded, or kept")


@table("field/attrition.csv", part="field", name="field_attrition")
class Attrition:
    """Participants lost, by prompt and by group."""

    model: Name = column("model")
    task: Name = column("task")
    item_id: Name = column("the item")
    variable: Name | None = column("the variable that defines the groups, NULL for everyone")
    group: str | None = column("the group, NULL for everyone", holds="groups of users")
    n_participants: int = column("participants who were asked with this model")
    n_answered: int = column("of these, those with a text for this prompt")
    n_kept: int = column("of these, those with an answer that is not excluded")
    kept_share: float | None = column("n_kept / n_participants, NULL where there are none")
    p_value: float | None = column("test that the groups of the variable keep alike many")
    p_holm: float | None = column("`p_value` corrected over the prompts of the model (Holm)")
    reason: Name | None = column("why there is no test")


@row
class GroupRow:
    """What a row about the answers of groups of participants begins with."""

    model: str = column("model")
    task: str = column("task")
    item_id: str | None = column("the item, NULL for the mean over items")
    kind: ItemKind = column("kind of the items")
    variable: str = column("the variable that defines the groups")


@table(
    "metrics/groups.parquet",
    'model, task, kind, variable, item_id, "group", metric, answer',
    part="field",
)
class GroupEstimate(GroupRow):
    """A metric of the answers of one group of participants."""

    group: str = column("the group")
    metric: str = column("what is estimated (docs/methods.md)")
    answer: str | None = column(
        "of a share of an answer: canonical option, letter, `unknown`, or `others`"
    )
    estimate: float | None = column("its value, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval, where the metric has one")
    ci_high: float | None = column("upper end of the 95 % interval, where the metric has one")
    n_participants: int = column("participants behind it, each with one answer to an item")
    n_equal: int | None = column(
        "answers all groups are brought to; NULL where the metric does not depend on it"
    )
    reason: str | None = column("why there is no estimate, or no interval")


@table(
    "metrics/group_differences.parquet",
    'model, task, kind, variable, item_id, "group", metric',
    part="field",
)
class GroupDifference(GroupRow):
    """How far a group's answers are from those of the others."""

    group: str | None = column("the group; NULL where all groups are compared at once")
    versus: str | None = column("the other of two groups; NULL of several and for all at once")
    metric: str = column("what is compared; `js_bits` for whole distributions")
    value: float | None = column("the group's; of all groups at once the divergence between them")
    value_versus: float | None = column(
        "mean over the other groups; of all at once what chance alone gives"
    )
    difference: float | None = column("value - value_versus, NULL with a reason")
    ci_low: float | None = column("lower end of its 95 % interval, where there is one")
    ci_high: float | None = column("upper end of its 95 % interval, where there is one")
    p_value: float | None = column("permutation test over participants that groups answer alike")
    p_holm: float | None = column("`p_value` corrected over the family (Holm)")
    n_family: int = column("tests of the family")
    n_permutations: int | None = column("random permutations")
    n_items: int = column("items behind the difference")
    n_group: int = column("participants of the group; of all groups at once in all of them")
    n_versus: int = column("participants of the others; 0 for all groups at once")
    reason: str | None = column("why something is NULL, or no test could show anything")


@table(
    "metrics/rank_agreement.parquet", 'model, task, kind, "over", measure, predictor', part="field"
)
class RankAgreement:
    """Whether a condition ranks items, or models, as the field does."""

    model: str | None = column("model, NULL where models are ranked")
    task: str = column("task")
    kind: ItemKind = column("kind of the items")
    over: str = column("what is ranked: `items` or `models`")
    predictor: str = column("the condition that is compared with the field")
    measure: str = column("what they are ranked by: `entropy_bits`, `top_share` or `share_correct`")
    rho: float | None = column("Spearman's rank correlation, NULL with a reason")
    rho_low: float | None = column("lower end of its 95 % interval, NULL with too few items")
    rho_high: float | None = column("upper end of its 95 % interval")
    tau_b: float | None = column("Kendall's tau-b")
    tau_low: float | None = column("lower end of its 95 % interval, NULL with too few items")
    tau_high: float | None = column("upper end of its 95 % interval")
    p_value: float | None = column("permutation test of tau-b, two-sided")
    p_least: float | None = column("the smallest p-value these ranks could have had")
    n_permutations: int | None = column("random permutations, 0 where all permutations were listed")
    n_discordant: int | None = column("pairs that the two put in opposite order")
    n_tied: int | None = column("pairs that at least one of them ties")
    n_pairs: int = column("all pairs")
    n_ranked: int = column("items or models ranked")
    n_left_out: int = column("items or models with too few answers on a side")
    n_equal: int | None = column("answers every item is brought to on both sides")
    reliability_field: float | None = column(
        "rank correlation of the field with itself, asked again"
    )
    reliability_predictor: float | None = column("the same for the predictor")
    ceiling: float | None = column("rho to expect if both had the same true order")
    reason: str | None = column("why something is NULL")


@table("metrics/item_agreement.parquet", "model, task, kind, predictor, item_id", part="field")
class ItemAgreement:
    """How near a condition's answers to an item are to the field's."""

    model: str = column("model")
    task: str = column("task")
    item_id: str = column("the item")
    kind: ItemKind = column("kind of the item")
    predictor: str = column("the condition that is compared with the field")
    js_distance: float | None = column("Jensen-Shannon distance, square root of the bits, 0 to 1")
    js_expected_same: float | None = column(
        "the same with answers shuffled between both sides: chance alone"
    )
    p_value: float | None = column("permutation test that both answer alike")
    n_equal_js: int = column("answers both sides are brought to for the distance")
    field_entropy: float | None = column("entropy of the field's answers at `n_equal`, bits")
    predictor_entropy: float | None = column(
        "entropy of the predictor's answers at `n_equal`, bits"
    )
    entropy_gap: float | None = column("field_entropy - predictor_entropy")
    gap_low: float | None = column("lower end of the 95 % interval of the gap")
    gap_high: float | None = column("upper end of the 95 % interval of the gap")
    n_equal: int | None = column("answers every item is brought to on both sides")
    field_top: str | None = column("commonest answer of the field; of equal ones the first by name")
    field_top_share: float | None = column("share of the field's answers that give it")
    predictor_top: str | None = column("commonest answer of the predictor")
    predictor_top_share: float | None = column("share of the predictor's answers that give it")
    is_same_top: bool | None = column("whether both are the same")
    option_tau_b: float | None = column("tau-b of options ranked by share; of lists alone")
    option_tau_expected: float | None = column("the same with answers shuffled between both sides")
    option_discordant: int | None = column("pairs of options in opposite order")
    option_pairs: int | None = column("pairs of options that either side names")
    ranked_by: str = column("what items are ranked by: `entropy_bits` or `share_correct`")
    field_rank: float | None = column(
        "place among the items in the field, 1 the highest; ties share"
    )
    predictor_rank: float | None = column("place among the items under the predictor")
    rank_change: float | None = column("predictor_rank - field_rank: places it rises in the field")
    p_rank: float | None = column("chance of such a change if both had one true order")
    n_ranked: int = column("items ranked")
    n_field: int = column("participants with an answer that counts")
    n_predictor: int = column("the predictor's answers that count, one a puppet")
    reason: str | None = column("why something is NULL")


@table(
    "metrics/calibration.parquet",
    "model, level, puppets_of NULLS FIRST, comparator, arm NULLS FIRST",
    part="calibration",
)
class Calibration:
    """How near weighted conditions or puppets come to the field, compared with others."""

    model: str = column("model")
    tasks: str = column("the tasks whose prompts are used, with commas between")
    level: str = column("what is weighted: `conditions`, or the `puppets` of one")
    puppets_of: str | None = column("the condition whose puppets are weighted, NULL for conditions")
    comparator: str = column(
        "what is compared with the field: `calibrated`, `equal` (equal weights), `arm`, or `field` itself"
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
    gap_closed: float | None = column(
        "gain_bits / excess_bits: share of its gap to the field that `calibrated` closes; NULL where "
        "the gap could be 0, or nothing differs"
    )
    closed_low: float | None = column("lower end of its 95 % interval; below 0 it could be further")
    closed_high: float | None = column("upper end of its 95 % interval")
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


@table(
    "metrics/calibration_weights.parquet",
    "model, level, condition, puppet_id NULLS FIRST",
    part="calibration",
)
class CalibrationWeight:
    """A weight another study can take over."""

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


@table(
    "metrics/calibrated_shares.parquet",
    "model, level, puppets_of NULLS FIRST, task, item_id, answer",
    part="calibration",
)
class CalibratedShare:
    """Shares of answers as calibrated, for use."""

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
