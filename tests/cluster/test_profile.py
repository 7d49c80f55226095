"""What every job asks a cluster for, told without one."""

import json
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
        for text in re.split(r"(?m)^ *(?=rule )", path.read_text())[1:]:
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
        for name, value in re.findall(r"^ +(mem_mb|runtime)=(\d+),", text, re.M):
            assert int(value) != defaults[name]


def test_each_setting_has_one_place() -> None:
    # what both name is taken from the default profile alone
    assert not set(profile("default")) & set(profile("slurm"))


# Snakemake reads the command line once it is imported, and a profile when the line is parsed
CORES = """
import json, os, sys
from snakemake.cli import parse_args
for options, environment in json.loads(sys.stdin.read()):
    sys.argv[1:] = options
    os.environ.pop("SNAKEMAKE_PROFILE", None)
    os.environ.update(environment)
    print(parse_args(options)[1].cores)
"""


def test_all_processors_are_meant_on_this_machine_alone() -> None:
    """On a cluster `cores` is what a job may ask for, which the default profile would win over."""
    cases: list[tuple[list[str], dict[str, str], str]] = [
        ([], {}, str(os.cpu_count())),
        (["--cores", "3"], {}, "3"),
        (["--profile", "profiles/slurm"], {}, "4"),
        (["--profile=profiles/slurm", "--cores", "7"], {}, "7"),
        ([], {"SNAKEMAKE_PROFILE": "profiles/slurm"}, "4"),
    ]
    parsed = subprocess.run(
        [sys.executable, "-c", CORES],
        input=json.dumps([case[:2] for case in cases]),
        cwd=REPOSITORY,
        env=clean_environment({}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert parsed.stdout.split() == [cores for _, _, cores in cases]


@pytest.mark.workflow
def test_groups_are_of_rules_that_exist_and_never_of_those_that_ask_a_model(tmp_path: Path) -> None:
    groups = profile("slurm")["groups"]
    listed = Checkout(REPOSITORY, tmp_path).snakemake("--list-rules")
    assert set(groups) <= set(listed.stdout.split()), listed.stderr[-2000:]
    assert not {"generate_responses", "ask_local_model"} & set(groups)
    assert set(profile("slurm")["group-components"]) <= set(groups.values())


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("study", "encoding"),
    [("paper", {"embed_corpus", "build_contexts"}), ("personalisation", set())],
)
def test_groups_of_the_profile_can_be_scheduled(
    tmp_path: Path, study: str, encoding: set[str]
) -> None:
    """A rule that stands between two of a group has to be in it; Snakemake says so when it plans.

    A graphics processor is asked for where the config names one, by jobs that encode a corpus alone.
    """
    checkout = Checkout(REPOSITORY, tmp_path)
    overlay = checkout.study("on_a_gpu", {"embedding": {"device": "cuda:0"}})
    files = ("--configfile", f"studies/{study}.yaml", str(overlay))
    planned = checkout.make("-n", "all", "--profile", "profiles/slurm", *files)
    with_gpu, rule = set(), ""
    for name, count in re.findall(
        r"^ *rule (\w+):$|\bgpu=(\d)", planned.stdout + planned.stderr, re.M
    ):
        rule = name or rule
        with_gpu |= {rule} if count == "1" else set()
    assert with_gpu == encoding
