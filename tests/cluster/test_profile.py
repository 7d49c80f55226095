"""What every job asks a cluster for, told without one."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflow.conftest import REPOSITORY, Checkout, clean_environment

PROFILES = REPOSITORY / "profiles"


def rules() -> dict[str, str]:
    """The text of every rule that runs a script, by its name."""
    found = {}
    for path in sorted((REPOSITORY / "workflow/rules").glob("*.smk")):
        for text in re.split(r"(?m)^(?=rule )", path.read_text())[1:]:
            if "    script:" in text:
                found[text.split(":", 1)[0].removeprefix("rule ")] = text
    return found


def profile(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((PROFILES / name / "config.yaml").read_text())
    return loaded


def test_every_job_has_memory_and_time() -> None:
    """What a rule says nothing of comes from the profile, and a rule says what differs from it."""
    defaults = profile("slurm")["default-resources"]
    assert {"mem_mb", "runtime"} <= set(defaults)
    for text in rules().values():
        for name, value in re.findall(r"^        (mem_mb|runtime)=(\d+),", text, re.M):
            assert int(value) != defaults[name]


def test_each_setting_has_one_place() -> None:
    # what both name is taken from the default profile alone
    assert not set(profile("default")) & set(profile("slurm"))


@pytest.mark.parametrize(
    ("options", "environment", "cores"),
    [
        ((), {}, str(os.cpu_count())),
        (("--cores", "3"), {}, "3"),
        (("--profile", "profiles/slurm"), {}, "4"),
        (("--profile=profiles/slurm", "--cores", "7"), {}, "7"),
        ((), {"SNAKEMAKE_PROFILE": "profiles/slurm"}, "4"),
    ],
)
def test_all_processors_are_meant_on_this_machine_alone(
    options: tuple[str, ...], environment: dict[str, str], cores: str
) -> None:
    """On a cluster `cores` is what a job may ask for, which the default profile would win over."""
    program = (
        "import sys; from snakemake.cli import parse_args; print(parse_args(sys.argv[1:])[1].cores)"
    )
    parsed = subprocess.run(
        [sys.executable, "-c", program, *options],
        cwd=REPOSITORY,
        env=clean_environment(environment),
        capture_output=True,
        text=True,
        check=True,
    )
    assert parsed.stdout.strip() == cores


@pytest.mark.workflow
def test_groups_are_of_rules_that_exist_and_never_of_those_that_ask_a_model(tmp_path: Path) -> None:
    groups = profile("slurm")["groups"]
    listed = Checkout(REPOSITORY, tmp_path).snakemake("--list-rules")
    assert set(groups) <= set(listed.stdout.split()), listed.stderr[-2000:]
    assert not {"generate_responses", "ask_local_model"} & set(groups)
    assert set(profile("slurm")["group-components"]) <= set(groups.values())


@pytest.mark.workflow
def test_a_gpu_is_asked_for_where_the_config_names_one(tmp_path: Path) -> None:
    study = Checkout(REPOSITORY, tmp_path)
    overlay = study.study("on_a_gpu", {"embedding": {"device": "cuda:0"}})
    target = "results/on_a_gpu/contexts/probe/rag.parquet"
    planned = study.snakemake("-n", target, "--configfile", str(overlay))
    assert planned.returncode == 0, planned.stderr[-2000:]
    asked = re.findall(r"^rule (\w+):$|\bgpu=(\d)", planned.stdout + planned.stderr, re.M)
    by_rule: dict[str, int] = {}
    rule = ""
    for name, count in asked:
        rule = name or rule
        if count:
            by_rule[rule] = int(count)
    assert by_rule == {"embed_corpus": 1, "build_contexts": 1}


@pytest.mark.workflow
@pytest.mark.parametrize("study", ["quickstart", "paper", "personalisation"])
def test_groups_of_the_profile_can_be_scheduled(tmp_path: Path, study: str) -> None:
    """A rule that stands between two of a group has to be in it; Snakemake says so when it plans."""
    overlay = () if study == "quickstart" else ("--configfile", f"studies/{study}.yaml")
    options = ("-n", "--quiet", "all", "--profile", "profiles/slurm", *overlay)
    planned = Checkout(REPOSITORY, tmp_path).snakemake(*options)
    assert planned.returncode == 0, planned.stderr[-2000:]
