"""Rows of the tables of judgements: what people and models think of attributes, answers and pairs.

A unit is what is judged at once: an attribute of a user, an attribute and a question, an answer, or two
answers side by side. No row carries what a person is called elsewhere: `rater` of a person is a keyed
hash, and notes are masked.
"""

from typing import Literal, get_args

from fieldwork.records.columns import Name, column, table

RaterKind = Literal["person", "model"]

Level = Literal["nominal", "ordinal", "interval"]

Side = Literal["a", "b"]

SIDES: tuple[Side, ...] = get_args(Side)

InterventionArm = Literal["all", "untrained", "learnt", "before", "verified", "refined"]

UnitKind = Literal["attributes", "relevance", "answers", "pairs", "mentions"]


@table(
    "judging/judgements.parquet",
    "scale, unit_id, rater, repeat",
    part="judging",
    name="single_judgements",
)
class Judgement:
    """What a rater says of a unit on a scale."""

    scale: Name = column("the scale, a key of `judging.scales`")
    unit_id: Name = column("what is judged")
    rater: Name = column("keyed hash of a person's id, or the name of a model")
    rater_kind: RaterKind = column("`person` or `model`")
    repeat: int = column(
        "number of the judgement among the rater's of this unit on this scale, from 0; the first with a "
        "value is 0, and those without a value come last"
    )
    value: Name | None = column("option of the scale, NULL with a reason")
    number: float | None = column(
        "the option's number where it is one, else its place from 1; NULL for scales without an order"
    )
    first_side: Side | None = column("of a pair the side that was shown first, NULL if not known")
    seconds: float | None = column("time that the judgement took, NULL if not known")
    note: str | None = column("what the rater wrote, masked", holds="words of raters")
    source: Name = column("the entry of `judging.sources` that it was read from")
    reason: Name | None = column("why there is no value")


@table("judging/texts/{units}.parquet", "unit_id", part="judging", name="unit_texts")
class UnitText:
    """A unit of this study as raters see it."""

    unit_id: Name = column("what is judged")
    unit_kind: UnitKind = column("what it is")
    code: Name = column("what raters' files call it, which does not say what it is")
    user_id: Name = column("the user whom it is about")
    item_id: Name | None = column("the question that it is about")
    unit_group: str | None = column("the part of the units that it is in", holds="groups of users")
    author_a: Name | None = column("who wrote it; of a pair, who wrote side a")
    author_b: Name | None = column("of a pair, who wrote side b")
    attribute: str | None = column("the attribute that is judged", holds="words of users")
    facts: list[str] = column("what is known of the user", holds="words of users")
    evidence: str | None = column(
        "the conversations that show the attribute", holds="words of users"
    )
    question: str | None = column("what the user asks", holds="words of questions")
    text_a: str | None = column(
        "the answer that is judged; of a pair, side a", holds="words of answers"
    )
    text_b: str | None = column("of a pair, side b", holds="words of answers")
    is_drawn: bool = column("whether raters are given it (`judging.units.*.n`)", default=True)


@table("judging/learnt/{units}.parquet", "unit_id", part="judging", name="learnt_scores")
class LearntScore:
    """What a unit would be judged, learnt from the units of other users."""

    unit_id: Name = column("the unit")
    user_id: Name = column("the user whom it is about")
    fold: int = column("fold of the user; the model was trained on the other folds")
    score: float | None = column("probability of yes, or the expected rating; NULL with a reason")
    untrained_score: float = column("a cosine, without any training")
    label: float | None = column("share of yes or mean rating, NULL where nobody judged it")
    labels_of: Name = column("`people`, or `models` where no person judged")
    reason: Name | None = column("why there is no score")


@table("review_kit/allocation.csv", part="judging", name="rater_allocation")
class Allotment:
    """A unit that a rater is given."""

    rater: Name = column("what the rater is called in links and files")
    place: int = column("order in which the rater sees the units of this entry, from 0")
    units: Name = column("the entry of `judging.units`")
    code: Name = column("what raters' files call the unit")
    first_side: Side | None = column("of a pair the side that is shown first")
    is_repeat: bool = column("whether the rater has judged the unit before")


@table("review_kit/precision.csv", part="judging", name="rater_precision")
class RaterPrecision:
    """How precise judgements of so many units will be."""

    share: float = column("share of judgements that say yes, as assumed")
    kappa: float = column("agreement of raters beyond chance, as assumed")
    n_users: int = column("users whose units are judged")
    n_units: int = column("units")
    n_judgements: int = column("judgements, those of shared units included and repeats left out")
    n_raters: int = column("raters that this takes")
    share_half_width: float = column("half the width of the 95 % interval of the share")
    kappa_half_width: float = column("half the width of the 95 % interval of κ over shared units")


@table("judging/units.parquet", "unit_id", part="judging", name="judged_units")
class JudgedUnit:
    """A unit, and what it belongs to."""

    unit_id: Name = column("what is judged")
    user_id: Name | None = column("the user whom it is about; intervals resample users")
    item_id: Name | None = column("the question that it is about")
    unit_group: str | None = column(
        "the part of the units that it is in, such as real or synthetic",
        holds="groups of users",
    )
    author_a: Name | None = column("who wrote it; of a pair, who wrote side a")
    author_b: Name | None = column("of a pair, who wrote side b")
    characters_a: int | None = column("length of the text; of a pair, of side a")
    characters_b: int | None = column("of a pair, length of side b")
    unit_kind: UnitKind | None = column(
        "what it is, a setting `judging.units.*.of`; NULL where a file describes it", default=None
    )


@table(
    "metrics/judgements.parquet",
    "scale, measure, raters, versus NULLS FIRST, unit_group NULLS FIRST, option NULLS FIRST",
    part="judging",
)
class JudgementEstimate:
    """What raters say, how far they agree, and how a judge differs from people."""

    scale: str = column("the scale")
    measure: str = column("what is estimated (docs/methods.md)")
    raters: str = column("`people`, `models`, or one model")
    versus: str | None = column("with whom they are compared: `people`, `models`, NULL for nobody")
    unit_group: str | None = column("the part of the units, NULL for all of them")
    option: str | None = column("of a share: the option, or the side of a pair")
    estimate: float | None = column("its value, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval over users")
    ci_high: float | None = column("upper end of the 95 % interval over users")
    chance: float | None = column("of an agreement: what chance gives raters with these shares")
    largest: float | None = column("of κ: the largest value that these shares allow")
    n_units: int = column("units behind it")
    n_judgements: int = column("judgements, or pairs of judgements, behind it")
    n_raters: int = column("raters behind it")
    n_owners: int = column("users that they belong to; units where no user is known")
    p_value: float | None = column(
        "of an order of authors: two-sided permutation test, exact for eight or fewer", default=None
    )
    reason: str | None = column("why there is no estimate, or no interval", default=None)


@table("metrics/interventions.parquet", "units, arm, measure", part="learning")
class InterventionEstimate:
    """What a light intervention gains on users that it has not seen."""

    units: str = column("the entry of `judging.units`, or `memory.verify`")
    kind: UnitKind = column("what its units are")
    arm: InterventionArm = column(
        "`all` takes everything, `untrained` by a cosine, `learnt` by a trained model; attributes "
        "`before`, those that are `verified`, and with those `refined`"
    )
    measure: str = column("`precision`, `recall`, `f1`, `over_selection`, `rho` or `accepted`")
    estimate: float | None = column("its value, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval over users")
    ci_high: float | None = column("upper end of the 95 % interval over users")
    labels_of: str | None = column("whose judgements are foretold: `people` or `models`")
    n_units: int = column("judged units behind it")
    n_users: int = column("users behind it")
    reason: str | None = column("why there is no estimate, or no interval")


@table("metrics/alternative_annotators.parquet", "scale, judge, person", part="judging")
class AlternativeAnnotator:
    """Whether a judge stands for the other people as well as one of them does."""

    scale: str = column("the scale")
    judge: str = column("the model")
    person: str = column("the person whom it is set beside")
    n_units: int = column("units judged by the person, the judge and another person")
    judge_share: float | None = column(
        "share of them on which the judge is as near to the others, or nearer"
    )
    person_share: float | None = column("share on which the person is as near, or nearer")
    penalty: float = column("what the judge may be worse by (`judging.scales.*.penalty`)")
    p_value: float | None = column(
        "one-sided test that the judge is not worse by more than the penalty, as published: units are "
        "independent"
    )
    p_by_user: float | None = column("the same test over users, whose units belong together")
    p_corrected: float | None = column(
        "the larger of the two, corrected over people (Benjamini and Yekutieli)"
    )
    is_replaceable: bool | None = column("p_corrected <= 0.05; NULL without a test")
    reason: str | None = column("why there is no test")
