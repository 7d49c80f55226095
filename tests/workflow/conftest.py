"""Running Snakemake itself: copies of the checkout, studies in them, and what came out."""

import compileall
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from fieldwork.provenance import READINGS_FILE
from servers.script_forks import ScriptForksByEnvironment
from servers.snakemake_forks import SnakemakeForks
from workflow.word_encoder import write_word_encoder

REPOSITORY = Path(__file__).parents[2]
NOT_COPIED = (
    ".git",
    ".venv",
    ".environments",
    ".work",
    "results",
    ".snakemake",
    "logs",
    ".*_cache",
    "*.egg-info",
    ".hypothesis",
)


Finished = subprocess.CompletedProcess[str]

StudyFiles = str | Path | tuple[str | Path, ...]
"""One file of a study, or those that are laid over one another."""


@dataclass(frozen=True)
class Checkout:
    """A copy of the project, and the folder its studies run in."""

    root: Path
    directory: Path

    def snakemake(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        cores: int = 8,
        as_users_do: bool = False,
    ) -> Finished:
        """Run Snakemake to its end; keys of the caller's environment are not passed on.

        Args:
            as_users_do: each of its processes starts Python anew, with another seed of hashes; else they
                are forks of a process that has imported libraries.
        """
        command, whole_env = self.command(*arguments, cores=cores), clean_environment(env or {})
        copy_readings(REPOSITORY, self.directory)
        if not as_users_do and "PYTHONPATH" not in (env or {}):
            done = forks().run(
                command[3:],
                cwd=self.root,
                env=whole_env,
                timeout=900,
                interpreter=script_forks().interpreter(whole_env),
            )
            copy_readings(self.directory, REPOSITORY)
            return done
        # Python reads it when it starts
        return subprocess.run(
            command,
            cwd=self.root,
            env=whole_env,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    def make(self, *targets: str, study: StudyFiles = (), **options: Any) -> Finished:
        """`snakemake` to a good end."""
        done = self.snakemake(*targets, *configfiles(study), **options)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        return done

    def fail(self, *targets: str, study: StudyFiles = (), **options: Any) -> Finished:
        """`snakemake`, which does not get to a good end."""
        done = self.snakemake(*targets, *configfiles(study), **options)
        assert done.returncode != 0
        return done

    def plan(self, *targets: str, study: StudyFiles = (), **options: Any) -> set[str]:
        """The rules that a dry run would run."""
        done = self.make("-n", *targets, study=study, **options)
        return planned_rules(done.stdout + done.stderr)

    def command(self, *arguments: str, cores: int = 8) -> list[str]:
        """The command line of a run."""
        elsewhere = [] if self.directory == self.root else ["--directory", str(self.directory)]
        return [sys.executable, "-m", "snakemake", "--cores", str(cores), *elsewhere, *arguments]

    def kill_once(
        self, is_time: Callable[[], bool], *arguments: str, env: Mapping[str, str] | None = None
    ) -> None:
        """Start Snakemake, SIGKILL it with all its processes once it is time, and unlock the folder."""
        running = subprocess.Popen(
            self.command(*arguments),
            cwd=self.root,
            env=clean_environment(env or {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 300
        while not is_time() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        assert is_time(), "the run was not far enough to be killed"
        at = arguments.index("--configfile")
        self.make("--unlock", *arguments[at:], env=env)

    def study(self, name: str, overlay: Mapping[str, Any]) -> Path:
        """Write a study file of that name; give it to `snakemake` after `--configfile`."""
        path = self.directory / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        named = {**overlay, "study": {"name": name, **overlay.get("study", {})}}
        path.write_text(yaml.safe_dump(named))
        return path

    def results(self, study: str = "quickstart") -> Path:
        """Where the results of a study are."""
        return self.directory / "results" / study

    def clone(self, to: Path) -> "Checkout":
        """A copy with results and Snakemake's memory of them, time stamps kept."""
        shutil.copytree(self.root, to, symlinks=True)
        return Checkout(to, to)


def configfiles(study: StudyFiles) -> list[str]:
    """The words of a command line that name a study's files."""
    files = study if isinstance(study, tuple) else (study,)
    return ["--configfile", *map(str, files)] if files else []


@cache
def forks() -> SnakemakeForks:
    """What starts Snakemake for the tests of this process."""
    return SnakemakeForks()


@cache
def script_forks() -> ScriptForksByEnvironment:
    """What starts the scripts of rules for the tests of this process."""
    return ScriptForksByEnvironment()


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment without keys and without what would steer downloads or slow imports."""
    hidden = re.compile(r"_API_KEY$|^HF_|^SNAKEMAKE_|^PYTHONDONTWRITEBYTECODE$")
    kept = {name: value for name, value in os.environ.items() if not hidden.search(name)}
    return kept | dict(extra)


def planned_rules(dry_run: str) -> set[str]:
    """The rules a dry run says it would run, from its job table."""
    table = re.search(r"^job +count\n-+ +-+\n(.*?)^total", dry_run, re.MULTILINE | re.DOTALL)
    return set() if table is None else {line.split()[0] for line in table[1].splitlines() if line}


def digests(folder: Path, *patterns: str) -> dict[str, str]:
    """sha256 of the files beneath `folder` that match, by their relative path."""
    import hashlib

    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for pattern in patterns
        for path in sorted(folder.glob(pattern))
        if path.is_file()
    }


def rows_of(checkout: Checkout, sql: str) -> list[tuple[Any, ...]]:
    """What a query over the files under RESULTS finds."""
    here = sql.replace("RESULTS", f"{checkout.directory}/results")
    found: list[tuple[Any, ...]] = duckdb.sql(here).fetchall()
    return found


def copy_shipped(to: Path) -> Checkout:
    """The project's files as they are now, without anything computed."""
    # else each of the first jobs compiles the whole library
    compileall.compile_dir(REPOSITORY / "workflow/scripts", quiet=1)
    shutil.copytree(REPOSITORY, to, ignore=shutil.ignore_patterns(*NOT_COPIED))
    # a developer's own; the library has folders of the same names
    own = ("downloads", "field", "judging", "ledger", "models", "precision", "recorded", "waves")
    for folder in own:
        shutil.rmtree(to / "resources" / folder, ignore_errors=True)
    share_models(to)
    return Checkout(to, to)


def copy_readings(of: Path, to: Path) -> None:
    """What the code means takes seconds to read, and is the same in every copy."""
    part = (to / READINGS_FILE).with_suffix(f".{os.getpid()}")
    if (of / READINGS_FILE).exists() and not (to / READINGS_FILE).exists():
        part.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(of / READINGS_FILE, part)
        part.replace(to / READINGS_FILE)


def share_models(to: Path) -> None:
    """Weights that one copy of a test run rounds are there for all of its copies."""
    for folder in to.parents:
        if re.fullmatch(r"pytest-\d+", folder.name):
            (folder / "models").mkdir(exist_ok=True)
            (to / "resources/models").symlink_to(folder / "models")
            return


# A sentence encoder in place of the chat model: it answers thousands of calls a second, so that the tests
# of what goes on around a model can run whole studies.
BASELINE = """
models:
  embedded:
    provider: embedded
    label: Embedded (words)
    note: Embedded model, a sentence-encoder baseline and not a chat model
    encoder: ENCODER
    sharpness: 40
    context_weight: 0.3
"""
_CHANGES = {
    "config.yaml": {
        "\n# Conversations of which": f"{BASELINE}\n# Conversations of which",
        "  corpus: sample_short\n  models: [smollm2]\n": "  corpus: sample\n  models: [embedded]\n",
        "[recommendations_lite, choices_lite]": "[recommendations, probe, mmlu_lite]",
    },
    **{
        f"studies/{name}.yaml": {"models: [smollm2]": "models: [embedded]"}
        for name in ("categories", "corpora", "history_length", "mechanisms", "mine", "wildchat")
    },
}


def copy_project(to: Path, *, with_vectors: bool = True) -> Checkout:
    """`copy_shipped`, where a sentence encoder answers, and more questions are asked of it.

    With the vectors of texts that the quickstart of the same test run encoded, once it has run: they
    depend on text and encoder alone. Without them, conversations are encoded as they are in a study.
    """
    made = copy_shipped(to)
    encoder = write_word_encoder((to / "resources/models").resolve())
    stores = [folder / "quickstart/results/vectors" for folder in to.parents]
    for store in [store for store in stores if with_vectors and store.is_dir()][:1]:
        shutil.copytree(store, to / "results/vectors")
    for file, changes in _CHANGES.items():
        text = (to / file).read_text(encoding="utf-8")
        for shipped, changed in changes.items():
            assert text.count(shipped) == 1, f"{file}: {shipped}"
            text = text.replace(shipped, changed)
        (to / file).write_text(text.replace("ENCODER", str(encoder)), encoding="utf-8")
    if with_vectors:
        with (to / "config.yaml").open("a", encoding="utf-8") as config:
            config.write(f"\nembedding: {{model: {encoder}}}\n")
    return made


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh copy of the project with no results, where a sentence encoder answers."""
    return copy_project(tmp_path / "project")


@pytest.fixture
def folder(tmp_path: Path) -> Checkout:
    """A folder of its own for a study that names all it asks: nothing of the project is copied."""
    return Checkout(REPOSITORY, tmp_path)


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy of the project in which the study of its config.yaml has run; not to be changed by a test.

    The processes of one test run share the run of the study: the first one makes it.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    shared = Checkout(folder / "quickstart", folder / "quickstart")
    with (folder / "quickstart.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not shared.root.exists():
            made = copy_project(tmp_path_factory.mktemp("running") / "project")
            made.make("all")
            made.root.rename(shared.root)
    # tests run Snakemake in theirs, which locks it
    return shared.clone(tmp_path_factory.mktemp("quickstart") / "project")


@pytest.fixture
def finished(quickstart: Checkout, tmp_path: Path) -> Checkout:
    """A finished quickstart of the test's own, to change and run again."""
    return quickstart.clone(tmp_path / "project")


def from_yaml(text: str, **values: Any) -> dict[str, Any]:
    """Settings as a study file has them; `$name` stands for a value."""

    def filled(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: filled(value) for key, value in part.items()}
        if isinstance(part, list):
            return [filled(value) for value in part]
        is_name = isinstance(part, str) and part[:1] == "$"
        return values[part[1:]] if is_name else part

    loaded: dict[str, Any] = filled(yaml.safe_load(text))
    return loaded


KEY = f"secret-{secrets.token_hex(16)}"
"""Of the fakes of services; drawn, so that no copy of a test holds it, compiled or not."""
KEYS = {"LOOPBACK_API_KEY": KEY}


def loopback_model(url: str, model: str, provider: str = "openai", **more: Any) -> dict[str, Any]:
    """A model that a fake serves."""
    about = {"provider": provider, "label": model, "model": model, "base_url": url}
    return {**about, "api_key_env": "LOOPBACK_API_KEY", **more}


def prices_of(prices: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Prices of a fake as a study has them."""
    about = {"as_of": "2026-11-01", "source": "the test"}
    return {model: {**price, **about} for model, price in prices.items()}


# each puppet asked once: for studies whose test counts calls
ONCE = {condition: {"replicates": 1} for condition in ("history", "rag", "profile")}


def answers_only(study: str) -> tuple[str, str]:
    """Where asking ends: for studies whose test looks at no estimate and no figure."""
    return (f"results/{study}/answers/answers.parquet", f"results/{study}/cost.csv")


# twenty simulations of an effect of each kind show that power is simulated, as hundreds of more would
FEW_SIMULATIONS: dict[str, Any] = {
    "simulations": 20,
    "effects": {
        "shares": [{"baseline": 0.5, "condition": 0.4}],
        "who": [0.2],
        "entropy": [0.25],
        "scores": [0.037],
        "values": [0.5],
    },
}

TINY: dict[str, Any] = {
    "study": {
        "models": ["embedded"],
        "conditions": ["offline", "history", "profile"],
        "tasks": ["recommendations", "probe"],
    },
    "conditions": ONCE,
    "tasks": {"recommendations": {"runs": 3}, "probe": {"runs": 3}},
    "metrics": {"permutations": 99},
}
