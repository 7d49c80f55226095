"""The config and its sections agree, and mistakes are told in one line."""

import copy
import json
import math
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.shipped_config import shipped_config

from fieldwork.config import settings
from fieldwork.config.field import field_files
from fieldwork.config.primary import require_items
from fieldwork.config.settings import arms_of, check_config, controls_of, filters_of, study_corpora
from fieldwork.errors import StudyError
from fieldwork.sections.base import ConfigSection
from fieldwork.sections.metrics import MetricsSection
from fieldwork.sections.whole import StudyConfig
from fieldwork.statistics.user_intervals import RAREST_PROMPTS, RAREST_USERS

HOME = Path(__file__).resolve().parents[3]
EMBEDDED = {"provider": "embedded", "label": "E", "encoder": "e"}
OPENAI = {"provider": "openai", "label": "O", "model": "m", "base_url": "http://127.0.0.1/v1"}
GEMINI = {"provider": "gemini", "label": "G", "model": "m"}
ANTHROPIC = {"provider": "anthropic", "label": "A", "model": "m"}
PRICE = {"as_of": "2026-11-01", "source": "page", "input": 1, "output": 2}
ITEMS = {"format": "items", "dataset": "recommendations"}
FIELD: dict[str, Any] = {
    # any file that is read will do: its columns are looked at by the import
    "path": "resources/tasks/aliases.csv",
    "layout": "wide",
    "columns": {"participant": "id"},
    "prompts": {"hobbies": "Q1"},
}


def config_with(setting: str, value: Any) -> dict[str, Any]:
    config = shipped_config()
    *way, last = setting.split("/")
    place: Any = config
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
    place[last] = copy.deepcopy(value)
    return config


def complaint(config: dict[str, Any]) -> str:
    with pytest.raises(StudyError) as caught:
        check_config(config, "config.yaml")
    return str(caught.value)


def repeated_defaults(part: Any, where: str = "") -> Iterator[str]:
    """Settings that a user wrote as they are without being written."""
    if isinstance(part, ConfigSection):
        for name in part.model_fields_set:
            field = type(part).model_fields[name]
            if field.get_default(call_default_factory=True) == getattr(part, name):
                yield f"{where}/{name}"
        pairs: Iterable[tuple[str, Any]] = [
            (name, getattr(part, name)) for name in part.model_fields_set
        ]
    else:
        pairs = part.items() if isinstance(part, dict) else ()
    for name, inner in pairs:
        yield from repeated_defaults(inner, f"{where}/{name}")


def test_shipped_config_is_valid_and_repeats_no_default() -> None:
    config = shipped_config()
    check_config(config, "config.yaml")
    again = copy.deepcopy(config)
    check_config(again, "config.yaml")
    assert again == config
    repeating = config_with("generation/attempts", 5)
    repeats = ["/generation", "/generation/attempts"]
    for loaded, expected in ((shipped_config(), []), (repeating, repeats)):
        texts = json.loads(json.dumps(loaded, default=date.isoformat))
        assert [*repeated_defaults(StudyConfig.model_validate(texts))] == expected


def test_estimates_and_studies_cover_the_same_users_where_nothing_is_said() -> None:
    metrics = MetricsSection()
    assert (metrics.rarest_users, metrics.rarest_prompts) == (RAREST_USERS, RAREST_PROMPTS)


@pytest.mark.parametrize("study", sorted((HOME / "studies").glob("*.yaml")), ids=lambda p: p.name)
def test_shipped_studies_are_valid(study: Path) -> None:
    def merge(base: Any, over: Any) -> Any:
        if not (isinstance(base, dict) and isinstance(over, dict)):
            return over
        return {**base, **{key: merge(base.get(key), value) for key, value in over.items()}}

    over = yaml.safe_load(study.read_text(encoding="utf-8"))
    merged = merge(shipped_config(), over)
    check_config(merged, study.name)
    assert merged["study"]["name"] == over["study"]["name"]
    # whoever is asked can be asked with a memory
    if not study.stem.startswith("recorded_"):
        conditions = ["offline", "memory", "memory_relevant"]
        remembering = {"study": {"conditions": conditions}, "metrics": {"baseline": "offline"}}
        check_config(merge(merged, remembering), study.name)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("stdy", 1, "unknown key 'stdy'"),
        (
            "calibration/tasks",
            ["x"],
            "calibration.tasks: 'x' is not in study.tasks (there are recommend",
        ),
        ("calibration/conditions", ["web"], "calibration.conditions: 'web' is not in study.cond"),
        ("calibration/weights", "no.parquet", "calibration.weights: no file no.parquet; give the"),
        ("calibration/over", ["people"], "calibration.over.0: 'people' is not one of"),
        ("calibration/folds", 1, "calibration.folds: 1 is less than"),
        ("study/seeed", 1, "study: unknown key 'seeed'; known here: conditions, corpus"),
        ("study/seed", "x", "study.seed: 'x' is not a whole number (Seed of"),
        ("study/seed", 2**31, "study.seed: 2147483648 is greater than"),
        (
            "metrics/permutations",
            10**23,
            "metrics.permutations: 100000000000000000000000 is greater",
        ),
        ("tasks/probe/runs", 2_000_000_000, "tasks.probe.runs: 2000000000 is greater than"),
        ("tasks/probe/max_tokens", 10**9, "tasks.probe.max_tokens: 1000000000 is greater than"),
        ("conditions/rag/replicates", 10**6, "conditions.rag.replicates: 1000000 is greater"),
        ("study/seed", -1, "study.seed: -1 is less than"),
        ("study/models", [], "study.models: the list is empty; name at least one"),
        ("study/models", "smollm2", "study.models: 'smollm2' is not a list [a, b]"),
        ("study/models", ["x"], "study.models: 'x' is not in models (there are claude-haiku"),
        ("study/conditions", ["x"], "study.conditions: 'x' is not in conditions"),
        ("study/tasks", ["x"], "study.tasks: 'x' is not in tasks"),
        ("study/corpus", "x", "study.corpus: 'x' is not in corpora"),
        ("study/name", "../x", "study.name: '../x' does not fit"),
        ("models/..", EMBEDDED, "models: '..' does not fit"),
        ("tasks/a\\b", {}, "tasks: 'a\\\\b' does not fit"),
        ("models/m", {**EMBEDDED, "provider": "x"}, "models.m.provider: 'x' is not one of"),
        ("models/m", {"provider": "embedded", "label": "x"}, "models.m: 'encoder' is a required"),
        (
            "models/m",
            {**OPENAI, "base_url": "ftp://x"},
            "models.m.base_url: the value does not fit (",
        ),
        ("models/m", {**OPENAI, "encoder": "e"}, "models.m: unknown key 'encoder'"),
        ("models/m", {**OPENAI, "timeout_s": 0}, "models.m.timeout_s: 0 is less"),
        (
            "models/m",
            {"label": "x"},
            "models.m: 'provider' is a required property; add the line `provider: embedded` there, or "
            "one of local_chat, openai, gemini, anthropic, recorded (What kind",
        ),
        (
            "models/m",
            {"provider": "embedded", "label": "x"},
            "'encoder' is a required property; add the line `encoder: all-MiniLM-L6-v2` there (Sent",
        ),
        (
            "tasks/t",
            {"runs": 5, "max_tokens": 5},
            "'sources' is a required property; add the line `sources:` there, with a list [a, b] (Where",
        ),
        ("models/m", {**OPENAI, "dispatch": "bach"}, "models.m.dispatch: 'bach' is not one of"),
        ("models/m", {**GEMINI, "dispatch": "slow"}, "models.m.dispatch: 'slow' is not one of"),
        ("models/m", {**GEMINI, "headers": {}}, "models.m: unknown key 'headers'"),
        ("models/m", {**ANTHROPIC, "dispatch": "flex"}, "models.m.dispatch: 'flex' is not one of"),
        ("models/m", {**ANTHROPIC, "send_seed": True}, "models.m: unknown key 'send_seed'"),
        ("models/m", {**ANTHROPIC, "effort": "most"}, "models.m.effort: 'most' is not one of"),
        ("models/m", {**ANTHROPIC, "thinking": 100}, "models.m.thinking"),
        ("models/m", {**ANTHROPIC, "api_version": "v1"}, "models.m.api_version"),
        ("models/m", {**GEMINI, "vertex": {"project": "p"}}, "'location' is a required property"),
        ("models/m", {**OPENAI, "shutdown": "soon"}, "models.m.shutdown: 'soon' is not a"),
        ("prices/m", {**PRICE, "input": float("nan")}, "prices.m.input: nan is no finite number"),
        ("prices/m", {**PRICE, "output": -1}, "prices.m.output: -1 is less than"),
        ("prices/m", {**PRICE, "cached": 1e7}, "prices.m.cached: 10000000.0 is greater than"),
        ("prices/m", {**PRICE, "input": True}, "prices.m.input: True is not a number"),
        ("prices/m", {**PRICE, "as_of": "2026-13-01"}, "prices.m.as_of: '2026-13-01' is not a"),
        ("prices/m", {**PRICE, "source": ""}, "prices.m.source: "),
        ("prices/m", {"input": 1, "output": 2, "source": "p"}, "'as_of' is a required"),
        ("prices/m", {**PRICE, "inptu": 1}, "prices.m: unknown key 'inptu'"),
        ("generation/budget_usd", -1, "generation.budget_usd: -1 is less than"),
        ("generation/budget_usd", 1e12, "generation.budget_usd: 1000000000000.0 is greater than"),
        ("field_kit/tasks", ["x"], "field_kit.tasks: 'x' is not in tasks"),
        ("field_kit/platforms", {"x": "ChatGPT"}, "field_kit.platforms: 'x' is not in models"),
        ("field_kit/repeats", 0, "field_kit.repeats: 0 is less than"),
        (
            "field_kit/groups",
            {"g": {"question": "Which?", "options": ["a", "A "]}},
            "field_kit.groups.g.options: two of them have the same text",
        ),
        (
            "field_kit/groups",
            {"g": {"question": " ", "options": ["a", "b"]}},
            "field_kit.groups.g.question: ' ' does not fit (The question)",
        ),
        ("field_kit/groups", {"a b": {}}, "field_kit.groups: 'a b' does not fit"),
        (
            "field_kit/groups",
            {"a": {"question": "?"}},
            "field_kit.groups.a: 'options' is a required",
        ),
        ("models/m", None, "models.m: None is not a mapping (key: value)"),
        ("conditions/c", {"context": "rug", "label": "x"}, "conditions.c.context: 'rug' is not"),
        ("conditions/c", {"label": "x"}, "conditions.c: 'context' is a required property"),
        (
            "conditions/c",
            {"context": "history", "label": "x", "pool": "any"},
            "conditions.c.pool: 'any' is not one of ['user', 'corpus']",
        ),
        (
            "conditions/c",
            {"context": "none", "label": "x", "pool": "user"},
            "conditions.c: unknown key 'pool'",
        ),
        (
            "conditions/c",
            {"context": "profile", "label": "x", "temperature": 3},
            "conditions.c.temperature: 3 is greater",
        ),
        (
            "conditions/c",
            {"context": "none", "label": "x", "after": "ofline"},
            "conditions.c.after: 'ofline' is not in conditions",
        ),
        (
            "conditions/c",
            {"context": "none", "label": "x", "after": "profile"},
            "conditions.c.after: name a condition with context: none that follows no other",
        ),
        (
            "conditions/c",
            {"context": "none", "label": "x", "after": "offline_t0"},
            "conditions.c.after: give both the same temperature",
        ),
        (
            "conditions/c",
            {"context": "history", "label": "x", "corpus": "reddit"},
            "conditions.c.corpus: 'reddit' is not in corpora (there are lmsys_chat_1m",
        ),
        (
            "conditions/c",
            {"context": "history", "label": "x", "conversations": 5, "out_of": 4},
            "conditions.c.out_of: 4 are drawn, but a puppet is to bring 5; raise it",
        ),
        (
            "conditions/c",
            {"context": "rag", "label": "x", "pool": "corpus", "out_of": 4},
            "conditions.c.out_of: what is retrieved from the pool corpus is not drawn",
        ),
        (
            "conditions/c",
            {"context": "history", "label": "x", "profile": "assistant"},
            "conditions.c.profile: 'assistant' is not one of ['system', 'user', None]",
        ),
        (
            "corpora/sample/filters",
            {"min_turns": 1},
            "corpora.sample.filters: unknown key 'min_tur",
        ),
        ("corpora/sample/filters", {"min_user_turns": 0}, "filters.min_user_turns: 0 is less than"),
        ("arms", {}, "arms: 'figure' is a required property"),
        ("arms", {"figure": "fig4"}, "arms.figure: fig4 is the name of another figure"),
        ("arms", {"figure": "power"}, "arms.figure: power is the name of another figure"),
        ("arms", {"figure": "a", "x": "tokens"}, "arms.x: 'tokens' is not one of"),
        (
            "arms",
            {"figure": "a", "conditions": ["ofline"]},
            "arms.conditions: 'ofline' is not in study.conditions (there are offline_t0, offline",
        ),
        (
            "arms",
            {"figure": "a", "x": "conversations", "conditions": ["offline", "profile"]},
            "arms.conditions: 'profile' has no number of conversations; leave it out",
        ),
        ("corpora/c", {"format": "wildchat"}, "corpora.c: 'path' is a required property (or repo"),
        ("corpora/c", {"format": "zz", "path": "x"}, "corpora.c.format: 'zz' is not one of"),
        (
            "corpora/c",
            {"format": "lmsys", "path": "x", "file": 1},
            "corpora.c: unknown key 'file'; known here: columns, files, filters, format, ids, license",
        ),
        ("datasets/d", {"path": 3}, "datasets.d.path: 3 is not a text"),
        (
            "datasets/d",
            {"path": False},
            "datasets.d.path: YAML reads this Yes or No as False, which is not a text or null; put it in",
        ),
        (
            "datasets/sample",
            {"path": "x"},
            "datasets.sample: 'sample' is in corpora too; downloads",
        ),
        ("filters", None, "filters: None is not a mapping (key: value)"),
        ("filters/started_after", "2023-13-01", "filters.started_after: '2023-13-01' is not a"),
        ("filters/languages", "English", "filters.languages: 'English' is not a list [a, b]"),
        (
            "tasks/recommendations_lite/sources/0/dataset",
            "x",
            "tasks.recommendations_lite.sources.0.dataset: 'x' is not in datasets",
        ),
        ("tasks/recommendations/sources/0/kinds", 1, "sources.0: unknown key 'kinds'"),
        (
            "tasks/t",
            {"sources": [], "runs": 1, "max_tokens": 1},
            "tasks.t.sources: the list is empty",
        ),
        ("tasks/t", {"sources": [ITEMS], "runs": True, "max_tokens": 1}, "tasks.t.runs: True is"),
        ("profiles/personas/dataset", "x", "profiles.personas.dataset: 'x' is not in datasets"),
        ("profiles/sentences/colum", "x", "profiles.sentences: unknown key 'colum'"),
        ("tasks/t", {"sources": [ITEMS], "runs": 3.0, "max_tokens": 1}, "tasks.t.runs: 3.0 is not"),
        (
            "models/m",
            OPENAI | {"headers": {"X": "a\nb"}},
            "models.m.headers.X: the value does not fit (",
        ),
        ("models/m", OPENAI | {"headers": {"X\n": "a"}}, "models.m.headers"),
        (
            "models/m",
            OPENAI | {"extra_body": {"top_k": 0, "max_tokens": 5}},
            "models.m.extra_body.max_tokens: take it out; tasks.*.max_tokens writes this field",
        ),
        ("models/m", OPENAI | {"extra_body": {3: 1, "a": 2}}, "models.m.extra_body: cannot be wri"),
        (
            "models/m",
            OPENAI | {"extra_body": {"x": math.nan}},
            "models.m.extra_body: cannot be wri",
        ),
        ("models/m", OPENAI | {"seed_field": "sed"}, "models.m.seed_field: 'sed' is not one of"),
        (
            "models/m",
            OPENAI | {"characters_per_token": 0},
            "models.m.characters_per_token: 0 is less than the minimum of 1",
        ),
        ("datasets/d", {"path": ""}, "datasets.d.path: '' should"),
        (
            "tasks/t",
            {"sources": [ITEMS | {"item_ids": ["a", "a"]}], "runs": 1, "max_tokens": 1},
            "tasks.t.sources.0.item_ids: 'a' stands twice; remove one",
        ),
        (
            "field",
            "answers.parquet",
            "field: 'answers.parquet' is not a mapping (key: value) or null",
        ),
        ("field", {"path": "x"}, "field: 'layout' is a required property"),
        ("field", {"layout": "wide", "columns": {}}, "field.columns: 'participant' is a required"),
        ("field", FIELD | {"collumns": 1}, "field: unknown key 'collumns'; known here: columns,"),
        ("field", FIELD | {"path": "nowhere.csv"}, "field.path: nothing at nowhere.csv; correct"),
        (
            "field",
            FIELD | {"path": "docs"},
            "field.path: docs holds nothing that is read (",
        ),
        ("field", FIELD | {"path": None}, "field: neither is given; give path for files on"),
        ("field", FIELD | {"osf": {"node": "abc12"}}, "field: both are given; give path for files"),
        ("field", FIELD | {"osf": {"node": "osf.io/abc12"}}, "field.osf.node: 'osf.io/abc12' does"),
        (
            "field",
            FIELD | {"key_file": "results/key"},
            "field.key_file: results/key lies under resu",
        ),
        ("field", FIELD | {"prompts": {}}, "field.prompts: layout wide needs the column of each"),
        (
            "field",
            FIELD | {"layout": "long"},
            "field.columns.prompt: layout long needs this column",
        ),
        (
            "field",
            FIELD | {"columns": {"participant": "id", "answer": "a"}},
            "field.columns.answer: layout wide has field.prompts instead; remove it",
        ),
        (
            "field",
            FIELD | {"columns": {"participant": "id", "groups": {"sex": " id"}}},
            "field.columns.groups.sex: ' id' is field.columns.participant, which nothing else may",
        ),
        (
            "field",
            FIELD | {"columns": {"participant": "id", "platform": "id"}},
            "field.columns.platform: 'id' is field.columns.participant",
        ),
        (
            "field",
            FIELD | {"prompts": {"hobbies": "id"}},
            "field.prompts.hobbies: 'id' is field.columns.participant",
        ),
        (
            "field",
            FIELD | {"skip_prompts": ["x"]},
            "field.skip_prompts: layout wide reads no other columns",
        ),
        (
            "field",
            FIELD | {"prompts": {"hobbies": "Q1", "companies": "Q1"}},
            "field.prompts: 'Q1' is given for several items; each needs its own",
        ),
        (
            "field",
            FIELD | {"prompts": {"recomendations/hobbies": "Q1"}},
            "field.prompts: 'recomendations/hobbies' names no task of study.tasks (recommendations_"
            "lite, choices_lite)",
        ),
        (
            "field",
            FIELD | {"prompts": {"choices_lite/sample_cooking-77": "Q1"}},
            "field.prompts: 'choices_lite/sample_cooking-77' is no item of the study's tasks "
            "(sample_astronomy-000, sample_",
        ),
        (
            "field",
            FIELD | {"models": {"ChatGPT": "gpt-4o-mini"}},
            "field.models.ChatGPT: 'gpt-4o-mini' is not in study.models (there are smollm2); select",
        ),
        ("metrics/baseline", "ofline", "metrics.baseline: 'ofline' is not in conditions"),
        ("power/targets", 0.8, "power: unknown key 'targets'; known here: answer_share, effects"),
        ("power/alpha", 0.05, "power: unknown key 'alpha'"),
        ("power/odd_users", 0, "power.odd_users: 0 is less than or equal to"),
        ("power/settled_items", 1.5, "power.settled_items: 1.5 is greater than the maximum of 1"),
        ("power/effects/entropy", [-0.1], "power.effects.entropy.0: -0.1 is less than"),
        ("power/target", 1, "power.target: 1 is greater than or equal to"),
        ("power/simulations", 0, "power.simulations: 0 is less than"),
        ("power/sizes", [], "power.sizes: the list is empty; name at least one (Numbers of users"),
        ("power/sizes", [40, 1], "power.sizes.1: 1 is less than the minimum of 2"),
        ("power/sizes", [40, 40], "power.sizes: 40 stands twice; remove one"),
        ("power/replicates", [1], "power.replicates.0: 1 is less than the minimum of 2"),
        ("power/prompts", 0, "power.prompts: 0 is less than the minimum of 1"),
        ("power/effects/who", [], "power.effects.who: the list is empty; name at least one"),
        ("power/effects/who", [1.5], "power.effects.who.0: 1.5 is greater than the maximum of 1"),
        ("power/effects/who", [float("nan")], "power.effects.who.0: nan is no finite number"),
        ("power/effects/shares", [], "power.effects.shares: the list is empty; name at least one"),
        (
            "power/effects/shares",
            [{"baseline": 93, "condition": 0.35}],
            "power.effects.shares.0.baseline: 93 is greater than the maximum of 1",
        ),
        ("power/effects/shares", [{"baseline": 0.9}], "power.effects.shares.0: 'condition' is a"),
        ("power/effects/scores", [-0.1], "power.effects.scores.0: -0.1 is less than"),
        (
            "power/lists",
            {"named": 6, "options": 6},
            "power.lists.named: a list of 6 leaves none of 6 options out",
        ),
        (
            "corpora/c",
            {"path": "x", "format": "lmsys", "columns": {"user": "u"}},
            "corpora.c.columns: files of format lmsys have columns of their own",
        ),
        (
            "corpora/c",
            {"path": "x", "roles": {"Anna": "users"}},
            "corpora.c.roles.Anna: 'users' is not",
        ),
        (
            "corpora/c",
            {"path": "x", "columns": {"speaker": "u"}},
            "corpora.c.columns: unknown key 'speaker'; known here: conversation, language, leaf",
        ),
        (
            "tasks/probe/sources/0/columns",
            {"answer": "x"},
            "tasks.probe.sources.0.columns: unknown key 'answer'; known here: gold, highest, item_id",
        ),
        (
            "tasks/probe/sources/0/gold",
            "number",
            "tasks.probe.sources.0.gold: 'number' is not one of",
        ),
        ("power/lists", {"named": 0}, "power.lists.named: 0 is less than the minimum of 1"),
        (
            "prices/gpt-4o-mini-2024-07-18/as_of",
            "2099-01-01",
            "prices.gpt-4o-mini-2024-07-18.as_of: 2099-01-01 is in the future",
        ),
        ("power/sd_reruns", 0, "power.sd_reruns: 0 is less than or equal to"),
        ("power/field_cost_usd", -1, "power.field_cost_usd: -1 is less than"),
        ("figures/fig1", "recomendations", "figures.fig1: 'recomendations' is not in study.tasks"),
        ("parsing/near_duplicates", 10, "parsing.near_duplicates: 10 is less"),
    ],
)
def test_a_mistake_is_told_in_one_line(setting: str, value: Any, message: str) -> None:
    told = complaint(config_with(setting, value))
    assert told.startswith("config.yaml: ")
    assert message in told
    assert "\n" not in told


def test_a_primary_comparison_may_name_a_declared_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    def config() -> dict[str, Any]:
        return config_with("study/primary", [{"measure": "own_measure"}])

    assert "own_measure" in complaint(config())
    monkeypatch.setattr(settings, "claimed_measures", lambda: ["own_measure"])
    check_config(config(), "config.yaml")


def test_a_primary_comparison_is_about_items_that_are_asked() -> None:
    config = shipped_config()
    task = config["study"]["tasks"][0]
    config["tasks"][task]["sources"] = [
        {**source, "item_ids": ["cars", "films"]} for source in config["tasks"][task]["sources"]
    ]
    entry = {"measure": "option_share", "tasks": [task], "items": ["cars"]}
    config["study"]["primary"] = [entry, {**entry, "items": ["kars"]}]
    sentence = "study.primary.1.items: there is no item 'kars' (there are cars, films)"
    assert complaint(config) == f"config.yaml: {sentence}; correct the name"


def test_a_study_is_about_items_that_it_asks() -> None:
    entry = {"tasks": ["lists", "more"], "items": ["cars", "films"]}
    require_items({"study.primary.0.items": entry}, {"lists": ["cars"], "more": ["films"]})
    with pytest.raises(StudyError) as caught:
        require_items({"study.primary.0.items": entry}, {"lists": ["cars"], "more": ["pets"]})
    assert str(caught.value) == (
        "study.primary.0.items: there is no item 'films' (there are cars, pets); correct the name"
    )


def test_a_field_of_several_models_needs_a_column_that_tells_them_apart() -> None:
    config = config_with("field", FIELD)
    config["study"]["models"] = ["smollm2", "local"]
    assert "field.columns.model: the study asks 2 models" in complaint(config)
    config = config_with("field", FIELD | {"columns": {"participant": "id", "platform": "p"}})
    config["study"]["models"] = ["smollm2", "local"]
    check_config(config, "config.yaml")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("folder", ["folder/a.csv", "folder/b.XLSX", "folder/deep/c.parquet"]),
        ("folder/*", ["folder/a.csv", "folder/b.XLSX"]),
        ("folder/a.csv", ["folder/a.csv"]),
        ("odd[1].csv", ["odd[1].csv"]),
    ],
)
def test_a_field_is_every_file_of_its_path_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, expected: list[str]
) -> None:
    names = ("a.csv", "b.XLSX", "~$b.xlsx", "key", "notes.docx", ".hidden.csv", "deep/c.parquet")
    for name in (*(f"folder/{name}" for name in names), "odd[1].csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    config = config_with("field", FIELD | {"path": path})
    check_config(config, "config.yaml")
    assert field_files(config) == expected


def test_an_osf_project_is_its_manifest() -> None:
    config = config_with("field", FIELD | {"path": None, "osf": {"node": "AbC12"}})
    check_config(config, "config.yaml")
    assert field_files(config) == ["resources/downloads/osf/abc12/manifest.json"]
    assert config["field"]["osf"]["url"] == "https://api.osf.io/v2"
    without = shipped_config()
    check_config(without, "config.yaml")
    assert field_files(without) == []


@pytest.mark.parametrize("key", ["study", "models", "profiles"])
def test_a_missing_part_is_named(key: str) -> None:
    config = shipped_config()
    del config[key]
    assert f"{key!r} is a required property" in complaint(config)


def test_keys_that_are_no_text_are_refused_like_others() -> None:
    config = shipped_config()
    config |= {1: 2, "zz": 3}
    assert "unknown key '1'" in complaint(config)


def test_an_unquoted_date_is_a_date() -> None:
    config = config_with("filters/started_after", date(2023, 5, 1))
    check_config(config, "config.yaml")
    assert config["filters"]["started_after"] == "2023-05-01"


@pytest.mark.parametrize(
    ("setting", "value", "filled"),
    [
        (
            "models/m",
            EMBEDDED,
            {"note": None, "limits": None, "sharpness": 40, "context_weight": 0.3},
        ),
        ("models/m", OPENAI, {"api_key_env": "OPENAI_API_KEY", "timeout_s": 120}),
        ("models/m", OPENAI, {"api": {"kind": "openai", "version": None}, "dispatch": "live"}),
        (
            "models/m",
            OPENAI,
            {
                "prefix_cache": {"key": True, "breakpoint": False, "min_tokens": 1024}
                | {"requests_per_minute": 15, "ttl_s": 300}
            },
        ),
        ("models/m", {**OPENAI, "prefix_cache": None}, {"prefix_cache": None}),
        (
            "models/m",
            GEMINI,
            {
                "base_url": "https://generativelanguage.googleapis.com",
                "prefix_cache": {"min_tokens": 1024, "requests_per_minute": None, "ttl_s": 300},
            },
        ),
        ("prices/m", PRICE, {"cached": None, "cache_write": None, "batch": 0.5, "flex": 0.5}),
        (
            "conditions/c",
            {"context": "none", "label": "x"},
            {"temperature": 1, "after": None, "wave": None},
        ),
        (
            "conditions/c",
            {"context": "rag", "label": "x"},
            {"temperature": 1, "wave": None, "replicates": 2, "pool": "user", "conversations": 1}
            | {"token_budget": 100_000, "order": "drawn"}
            # without a corpus of its own a condition takes the study's
            | {"corpus": "sample_short", "out_of": None, "profile": None, "same_users_as": None},
        ),
        (
            "conditions/c",
            {"context": "profile", "label": "x"},
            {"temperature": 1, "wave": None, "replicates": 2, "role": "system"},
        ),
        ("generation", {}, {"attempts": 5}),
        ("filters", {}, {"min_user_turns": 5, "languages": [], "started_after": None}),
    ],
)
def test_defaults_are_filled_and_those_of_other_kinds_are_not(
    setting: str, value: dict[str, Any], filled: dict[str, Any]
) -> None:
    config = config_with(setting, value)
    check_config(config, "config.yaml")
    found: Any = config
    for step in setting.split("/"):
        found = found[step]
    assert {key: found[key] for key in filled} == filled
    if setting == "conditions/c":
        assert set(found) == {*value, *filled}


def test_whole_sections_are_filled_and_their_defaults_are_not_held_to_the_registries() -> None:
    config = shipped_config()
    for section in ("filters", "embedding", "field", "generation", "parsing", "figures"):
        config.pop(section, None)
    config["tasks"] = {"mine": {"sources": [copy.deepcopy(ITEMS)], "runs": 1, "max_tokens": 9}}
    config["study"]["tasks"] = ["mine"]
    config["conditions"] = {"blank": {"context": "none", "label": "Blank"}}
    config["study"]["conditions"] = ["blank"]
    config["metrics"] = {"baseline": "blank"}
    check_config(config, "config.yaml")
    assert config["field"] is None
    assert config["metrics"]["permutations"] == 1999
    assert config["figures"] == {
        **dict.fromkeys(["fig1", "fig5", "categories", "values"]),
        **dict.fromkeys(["fig2", "fig3", "fig4"], "mine"),
    }
    assert config["tasks"]["mine"]["leaderboard"] is None
    assert config["tasks"]["mine"]["leaderboard_note"] is None


def test_filled_defaults_are_not_shared() -> None:
    config = shipped_config()
    check_config(config, "config.yaml")
    first, second = config["tasks"]["probe"]["sources"]
    first["subjects"].append("x")
    assert second["subjects"] == []
    assert "&id" not in yaml.safe_dump(config)


def test_a_study_of_more_requests_than_any_can_pay_is_refused() -> None:
    config = config_with("tasks/probe/runs", 1_000_000)
    config["study"]["tasks"] = ["recommendations", "probe"]
    config["conditions"]["rag"]["replicates"] = 10
    # of four items: three blank conditions, two with 2 replicates and one with 10
    assert "config.yaml: tasks: the study asks 68,000," in complaint(config)
    config["conditions"]["rag"]["replicates"] = 2
    check_config(config, "config.yaml")


# ---- overlays ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overlay", "expected"),
    [
        ({}, ["sample_short"]),
        ({"history": {"corpus": "oasst2"}}, ["oasst2", "sample_short"]),
        ({"history": {"corpus": "oasst2"}, "rag": {"corpus": "oasst2"}}, ["oasst2"]),
    ],
)
def test_only_corpora_that_a_selected_condition_names_are_needed(
    overlay: dict[str, Any], expected: list[str]
) -> None:
    config = shipped_config()
    for condition, entry in overlay.items():
        config["conditions"][condition] |= entry
    check_config(config, "config.yaml")
    assert study_corpora(config) == expected


def test_a_corpus_has_the_filters_of_the_study_and_over_them_its_own() -> None:
    config = config_with("corpora/oasst2/filters", {"min_user_turns": 2, "languages": ["en"]})
    check_config(config, "config.yaml")
    assert filters_of(config, "sample") == config["filters"]
    assert filters_of(config, "oasst2") == config["filters"] | {
        "min_user_turns": 2,
        "languages": ["en"],
    }


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        (None, []),
        ({"figure": "a"}, ["offline_t0", "offline", "offline_again", "history", "rag", "profile"]),
        ({"figure": "a", "conditions": ["rag", "offline"]}, ["rag", "offline"]),
        (
            {"figure": "a", "x": "conversations"},
            ["offline_t0", "offline", "offline_again", "history", "rag"],
        ),
    ],
)
def test_conditions_of_the_figure_of_arms(arms: Any, expected: list[str]) -> None:
    config = config_with("arms", arms)
    check_config(config, "config.yaml")
    assert arms_of(config) == expected


@pytest.mark.parametrize(
    ("baseline", "controls"), [("offline", ["offline_again"]), ("profile", [])]
)
def test_a_control_asks_the_baseline_again_and_no_other_condition(
    baseline: str, controls: list[str]
) -> None:
    config = config_with("metrics/baseline", baseline)
    check_config(config, "config.yaml")
    assert controls_of(config) == controls
