"""Rows of the tables of estimates; docs/methods.md has their formulas."""

from typing import Literal

from fieldwork.records.columns import column, table
from fieldwork.records.shared import ArmRow, BaselineRow, ItemRow
from fieldwork.records.tasks import ItemKind


@table("metrics/item_shares.parquet", "model, task, condition, item_id, n_named DESC, answer")
class ItemShare(ItemRow):
    """Share of responses that name an option."""

    answer: str = column("canonical option")
    n_named: int = column("responses that name it")
    n_responses: int = column("responses that gave an option, one a puppet")
    share: float = column("n_named / n_responses")
    ci_low: float = column("lower end of the 95 % Wilson interval")
    ci_high: float = column("upper end of the 95 % Wilson interval")


@table("metrics/distributions.parquet", "model, task, condition, item_id, answer")
class AnswerShare(ItemRow):
    """Distribution of letters on a choice item."""

    answer: str = column("letter, or `unknown`")
    is_correct: bool = column("the letter is the gold one")
    n_answers: int = column("responses with this answer")
    n_responses: int = column("all responses to the item")
    n_units: int = column("users; without users, responses: what the interval counts")
    share: float = column(
        "n_answers / n_responses; each puppet alike if some answer more often; mean of the probabilities "
        "where answers state them"
    )
    ci_low: float = column(
        "lower end of the 95 % interval: Wilson's of answers; of probabilities that over users, or the "
        "share itself where it is certain"
    )
    ci_high: float = column("upper end of the same interval")
    is_stated: bool = column(
        "whether the share is of probabilities that answers state", default=False
    )


@table("metrics/novelty.parquet", "model, task, condition")
class Novelty(ArmRow):
    """Questions to which a condition gives a letter that the baseline never gave."""

    baseline: str = column("the offline condition compared with")
    control: str | None = column("the condition of fresh offline reruns, NULL where there is none")
    n_items: int = column("choice items answered here, in the baseline and in the control")
    n_equal: int | None = column("units, users or reruns: the fewest of the three conditions")
    n_baseline: int | None = column("reruns of the baseline, all of whose letters are known ones")
    share: float | None = column(
        "share of the items to which `n_equal` units give a letter that the baseline never gave"
    )
    ci_low: float | None = column("lower end of the 95 % interval, NULL with too few users")
    ci_high: float | None = column("upper end of the 95 % interval, NULL with too few users")
    share_all: float | None = column("the same share of all answers, which grows with their number")
    control_share: float | None = column("`share` of the control: what as many reruns alone give")
    excess: float | None = column("share - control_share")
    excess_low: float | None = column("lower end of its 95 % interval, over units")
    excess_high: float | None = column("upper end of its 95 % interval, over units")
    p_value: float | None = column(
        "chance of such an excess if users answer like reruns; one-sided"
    )
    n_permutations: int | None = column("random permutations, 0 where all permutations were listed")
    reason: str | None = column("why there is no share, no excess or no interval")
    is_stated: bool = column(
        "whether shares are those to expect by the probabilities that answers state", default=False
    )


@table("metrics/accuracy_runs.parquet", "model, task, condition, run")
class RunAccuracy(ArmRow):
    """Score of one run over a choice task."""

    run: int = column("run index, from 0")
    puppet_id: str | None = column("the puppet that was the user of the run, NULL offline")
    replicate: int = column("repeat index of the run")
    em_strict: float = column("macro mean over subjects of HELM's exact match")
    em_flexible: float = column("the same with the flexible letter")
    format_failure: float = column("share of answers in which HELM's reading finds no letter")
    n_items: int = column("items answered in the run")
    n_subjects: int = column("subjects averaged over")
    is_counted: bool = column(
        "complete, and the first such run of its puppet; each offline rerun; none of an arm of which "
        "no answer can be read"
    )
    expected_score: float | None = column(
        "score of probabilities: that of the gold letter, where other words than letters count as wrong, "
        "or 1 and 0 for an answer that states none; "
        "NULL where none of the condition does",
        default=None,
    )
    brier_score: float | None = column(
        "mean squared distance of the probabilities from the right letter, 0 to 2; NULL where an answer "
        "states none",
        default=None,
    )
    calibration_error: float | None = column(
        "how far the probability of the likeliest letter is from how often it is right, in ten bins; "
        "NULL where an answer states none",
        default=None,
    )
    n_stated: int = column("items of the run whose answers state probabilities", default=0)
    unlisted_share: float = column(
        "how far these may be off: mean probability left for letters that answers do not list",
        default=0.0,
    )


@table("metrics/score_spreads.parquet", "model, task, condition, metric")
class ScoreSpread(BaselineRow):
    """How far the scores of a condition's runs spread, beside the baseline's."""

    metric: str = column(
        "`em_strict`, `em_flexible`, `format_failure`; `expected_score` of runs that state probabilities"
    )
    sd: float | None = column("standard deviation over the condition's counted runs")
    sd_baseline: float | None = column("the same of the baseline")
    sd_ratio: float | None = column("sd / sd_baseline")
    p_value: float | None = column(
        "permutation test that the condition spreads no more; one-sided, NULL for the baseline"
    )
    n_permutations: int | None = column("random permutations, 0 where all permutations were listed")
    share_between: float | None = column(
        "share of the variance of a run's score that lies between puppets"
    )
    ci_low: float | None = column("lower end of its 95 % interval")
    ci_high: float | None = column("upper end of its 95 % interval")
    n_units: int = column("counted runs of the condition, one a unit")
    n_units_baseline: int = column("the same of the baseline")
    unit: str = column("what one run is: `rerun` or `puppet`")
    reason: str | None = column("why something is NULL")


@table(
    "metrics/control_tests.parquet",
    "measure, model, task, condition, item_id NULLS FIRST, detail NULLS FIRST, control",
    part="controls",
)
class ControlTest(ArmRow):
    """A test of users against asking the baseline again, which confirms the test against the baseline."""

    measure: str = column("what is tested, as in `claims`")
    item_id: str | None = column("the item, NULL for a test over items")
    detail: str | None = column("what else tells the test apart, as in `claims`")
    control: str = column("the condition that asks the baseline again")
    estimate: float | None = column("the difference from the control; NULL where it has none")
    ci_low: float | None = column("lower end of its 95 % interval, not corrected")
    ci_high: float | None = column("upper end of its 95 % interval, not corrected")
    p_value: float | None = column("p-value of the test, not corrected; NULL with a reason")
    direction: str | None = column("which way the difference goes, in words")
    reason: str | None = column("why there is no test")


@table("metrics/ranks.parquet", "model, task, condition, metric")
class Rank(BaselineRow):
    """Places a model's runs would take on a leaderboard."""

    metric: str = column("`em_strict` or `em_flexible`")
    leaderboard: str = column("its name")
    n_models: int = column("other models on the leaderboard")
    rank_best: int | None = column("best place of a counted run, NULL with a reason")
    rank_median: float | None = column("median place of the counted runs")
    rank_worst: int | None = column("worst place of a counted run")
    rank_of_mean: int | None = column("place of the mean score")
    p_change: float | None = column("chance that two puppets (offline: two reruns) differ in place")
    p_change_rerun: float | None = column("the same for two runs of one user")
    p_change_baseline: float | None = column("the same for two reruns of the baseline")
    rank_baseline: int | None = column("place of the baseline's mean score")
    p_change_from_baseline: float | None = column("chance that a run is not at `rank_baseline`")
    n_units: int = column("counted runs, one a unit")
    n_items: int = column("items in a run")
    unit: str = column("what one run is: `rerun` or `puppet`")
    reason: str | None = column("why something is NULL")


@table("metrics/comparisons.parquet", "model, task, condition, item_id, metric")
class Comparison(BaselineRow):
    """How far a condition's answers to an item are from the baseline's."""

    item_id: str = column("the item")
    metric: str = column("`js_bits` (Jensen-Shannon divergence) or `total_variation`")
    distance: float | None = column(
        "between the shares of `n_equal` answers each, NULL with a reason"
    )
    expected_same: float | None = column("the same if both answered alike: chance alone")
    excess: float | None = column("distance - expected_same")
    p_value: float | None = column(
        "permutation test that both answer alike; of probabilities the least of their letters' tests"
    )
    p_least: float | None = column("smallest p-value that these answers could have had")
    n_permutations: int | None = column("random permutations, 0 where all permutations were listed")
    n_units: int = column("independent answers of the condition")
    n_units_baseline: int = column("independent answers of the baseline")
    n_equal: int = column("answers each condition is brought to, for this model and item")
    n_unread: int = column("answers that cannot be read: `unknown` for letters, left out for lists")
    n_unread_baseline: int = column("the same of the baseline")
    unit: str = column("what is permuted: `puppet` or `response`")
    reason: str | None = column("why there is no distance")
    is_stated: bool = column("whether it is of the probabilities that answers state", default=False)


@table("metrics/variance.parquet", "model, task, condition, kind")
class VarianceShare(ArmRow):
    """Where the variance of answers comes from."""

    kind: ItemKind = column("kind of the items")
    share_who: float | None = column(
        "var_who / var_answers: the share between contexts, or real users; NULL with a reason"
    )
    ci_low: float | None = column(
        "lower end of the 95 % interval over puppets, NULL with too few who repeat"
    )
    ci_high: float | None = column(
        "upper end of the 95 % interval over puppets, NULL with too few who repeat"
    )
    p_value: float | None = column(
        "chance of as large a share if contexts, or real users, made no difference"
    )
    n_permutations: int | None = column("deals behind `p_value`, NULL without one")
    var_prompt: float | None = column("variance between prompts, NULL where there is one")
    var_who: float | None = column("variance between puppets within a prompt; can fall below 0")
    var_rerun: float | None = column("variance between answers of one puppet to one prompt")
    var_answers: float | None = column("var_who + var_rerun: variance of answers to one prompt")
    over_baseline: float | None = column("1 - (var_rerun of the baseline) / var_answers")
    n_items: int = column("items with an answer")
    n_puppets: int = column("puppets with an answer")
    n_repeated: int = column("pairs of puppet and item with two answers or more")
    n_responses: int = column("answers")
    n_unread: int = column("answers that cannot be read: `unknown` for letters, left out for lists")
    unit: str = column("unit of resampling")
    reason: str | None = column("why there is no share, or no interval")
    is_stated: bool = column("whether it is of the probabilities that answers state", default=False)


@table("metrics/users_and_contexts.parquet", "model, task, condition, kind", part="nests")
class NestedVariance(ArmRow):
    """Variance of answers between users, between contexts of one user, and between reruns."""

    condition: str = column("condition whose users further conditions share (`same_users_as`)")
    kind: ItemKind = column("kind of the items")
    n_contexts: int = column("contexts of each user: conditions with the same users")
    share_user: float | None = column(
        "var_user / var_answers, the share between users; NULL with a reason"
    )
    user_low: float | None = column("lower end of its 95 % interval over users, NULL with too few")
    user_high: float | None = column("upper end of its 95 % interval over users, NULL with too few")
    p_user: float | None = column(
        "chance of as large a share if it did not matter whose context it is"
    )
    share_context: float | None = column(
        "var_context / var_answers, the share between contexts of one user; NULL with a reason"
    )
    context_low: float | None = column(
        "lower end of its 95 % interval over users, NULL with too few"
    )
    context_high: float | None = column(
        "upper end of its 95 % interval over users, NULL with too few"
    )
    p_context: float | None = column(
        "chance of as large a share if contexts of one user made no difference"
    )
    n_permutations: int | None = column("deals behind each p-value, NULL without one")
    var_user: float | None = column("variance between users; can fall below 0")
    var_context: float | None = column("variance between contexts of one user; can fall below 0")
    var_rerun: float | None = column("variance between answers in one context to one prompt")
    var_answers: float | None = column("their sum: variance of answers to one prompt")
    n_items: int = column("items with an answer")
    n_users: int = column("users with an answer")
    n_nested: int = column("users with answers in two contexts or more")
    n_responses: int = column("answers")
    n_unread: int = column("answers that cannot be read: `unknown` for letters, left out for lists")
    unit: str = column("unit of resampling")
    reason: str | None = column("why there is no share, interval or test")


ExactMeasure = Literal["distance", "entropy", "novelty", "score", "share_who"]


@table("metrics/exact_estimates.parquet", "model, task, condition, measure")
class ExactEstimate(ArmRow):
    """An estimate from the probabilities of the options, without the chance of drawing one."""

    measure: ExactMeasure = column(
        "`share_who` of `variance`, score of `estimates/accuracy`, `entropy` of `estimates/letters`, "
        "`share` of `novelty`, or `distance`: the mean excess of `comparisons` (js_bits) over items"
    )
    estimate: float | None = column("value from the probabilities, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval over users")
    ci_high: float | None = column("upper end of the 95 % interval over users")
    sampled: float | None = column("value from the letters drawn, by the same measure")
    sampled_low: float | None = column("lower end of its interval")
    sampled_high: float | None = column("upper end of its interval")
    n_items: int = column("choice items whose answers have probabilities")
    n_users: int = column("users, 0 without users")
    n_calls: int = column("calls that `estimate` takes: one for each user and item")
    n_answers: int = column("answers that `sampled` rests on")
    reason: str | None = column("why there is no value or no interval")


@table("metrics/subjects.parquet", "model, task, condition, subject")
class SubjectVariance(ArmRow):
    """Variance between contexts, or real users, subject by subject of a choice task."""

    condition: str = column("condition, with puppets")
    subject: str = column("subject of the items")
    category: str | None = column("category of the subject, NULL where the file has none")
    var_who: float | None = column("variance between puppets within a prompt; can fall below 0")
    var_rerun: float | None = column("variance between answers of one puppet to one prompt")
    var_answers: float | None = column("var_who + var_rerun: variance of answers to one prompt")
    share_who: float | None = column("var_who / var_answers, NULL where answers do not vary")
    n_items: int = column("items with an answer")
    n_puppets: int = column("puppets with an answer")
    reason: str | None = column("why there is no `var_who`")


@table("metrics/categories.parquet", "model, task, condition, category")
class CategoryVariance(ArmRow):
    """Variance between contexts, or real users, by category of subject."""

    condition: str = column("condition, with puppets")
    category: str = column("category of subjects")
    var_who: float | None = column("mean of the subjects' `var_who`, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval over subjects")
    ci_high: float | None = column("upper end of the 95 % interval over subjects")
    p_value: float | None = column(
        "test that all categories of this model, task and condition are alike"
    )
    n_subjects: int = column("subjects with a `var_who`")
    n_items: int = column("their items")
    unit: str = column("unit of the interval and the test")
    reason: str | None = column("why there is no estimate, interval or test")


@table("metrics/shifts.parquet", "model, task, condition, item_id, answer NULLS FIRST")
class Shift(BaselineRow):
    """How far a condition moves the share of an option from the baseline's."""

    item_id: str = column("the item")
    kind: ItemKind = column("kind of the item")
    answer: str | None = column(
        "canonical option, letter or `unknown`; NULL where neither side names one"
    )
    baseline_share: float | None = column("share of the baseline's answers that give it")
    baseline_ci_low: float | None = column("lower end of its 95 % Wilson interval")
    baseline_ci_high: float | None = column("upper end of its 95 % Wilson interval")
    n_named_baseline: int | None = column(
        "answers of the baseline that give it, NULL of probabilities"
    )
    n_baseline: int = column("independent answers of the baseline")
    share: float | None = column("share of the condition's answers that give it")
    share_ci_low: float | None = column("lower end of its 95 % Wilson interval")
    share_ci_high: float | None = column("upper end of its 95 % Wilson interval")
    n_named: int | None = column("answers of the condition that give it, NULL of probabilities")
    n_answers: int = column("independent answers of the condition")
    shift: float | None = column("share - baseline_share, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval of the shift (Newcombe)")
    ci_high: float | None = column("upper end of the 95 % interval of the shift (Newcombe)")
    p_value: float | None = column(
        "test that both shares are equal, two-sided: Fisher's exact one; of probabilities that of means"
    )
    n_family: int = column("options tested for this model, task and condition")
    unit: str = column("what one answer is: `puppet` or `response`")
    reason: str | None = column("why there is no shift")
    is_stated: bool = column(
        "whether shares are means of probabilities that answers state", default=False
    )


@table("metrics/list_lengths.parquet", "model, task, condition")
class ListLength(ArmRow):
    """How many options the lists of a condition name."""

    mean_named: float = column("distinct options of a list, mean")
    share_longer: float | None = column(
        "share of lists with more options than asked for, NULL where no prompt asks for a number"
    )
    share_shorter: float | None = column("share of lists with fewer, NULL likewise")
    mean_counted: float = column("options that count, mean: those left by `parsing.cut_lists`")
    n_lists: int = column("lists that can be read")
    n_without_number: int = column("of these, lists whose prompt asks for no number")


@table("metrics/rarefaction.parquet", "model, task, condition, item_id NULLS FIRST, n_answers")
class Rarefaction(ArmRow):
    """Options to be expected among so many answers."""

    item_id: str | None = column("the item, NULL for the mean over the items of the task")
    n_answers: int = column("how many of the answers, from 1; 0 where there is none")
    unique_items: float | None = column(
        "expected number of distinct options among `n_answers`, NULL with a reason"
    )
    n_responses: int = column("answers there are: the end of the curve; of a mean the fewest")
    n_items: int = column("items behind the row")
    n_unread: int = column("answers left out because nothing could be read")
    reason: str | None = column("why there is no curve")
