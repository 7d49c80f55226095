"""`make reruns`: what asking again does by itself, from real answers.

Reads public extracts, by default in `../shared/data` beside the repository; `--data FOLDER` points
elsewhere. Writes results.csv, results.md and reruns.png; `--page` writes the last two from the first.
"""

import argparse
import hashlib
import math
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

import extracts
import new_letters
import noise
import numpy as np
import plot
from command_line import Option, read_options
from extracts import Asked, Scores
from result_rows import read_rows, write_rows
from scipy.stats import chi2

import report
from fieldwork.files.leaderboards import rank_models
from fieldwork.metrics.accuracy import READERS, mean, measure_runs
from fieldwork.metrics.ranks import measure_ranks
from fieldwork.records.metrics import RunAccuracy
from fieldwork.statistics.intervals import student_quantile, wilson_interval
from report import Row

HERE = Path(__file__).parent
DATA = HERE.parents[2] / "shared" / "data"
ALL = "all four subjects"
PAPER = {
    "GPT-4o mini, SP-History": 0.23,
    "GPT-4o mini, SP-Profile": 0.13,
    "Gemini 2.0 Flash, SP-History": 0.25,
    "Gemini 2.0 Flash, SP-Profile": 0.22,
}
"""Share of 514 questions with an answer of ten simulated users that ten reruns never gave."""
NOTES = {
    ALL: "Ten against ten cannot be counted in five runs. The value is that of the likeliest shares of "
    "letters; in brackets is what any shares allow that make five answers agree as often (95 %).",
    "series": "The long series, with another prompt, mostly end at the first answer that differs: "
    "{least:.0%} is what they show at least, {most:.0%} what they could.",
    "paper": "The paper (Wang, Ho and Koyejo 2025): ten simulated users against ten reruns at "
    "temperature 1, HELM Lite's questions; it sets no reruns against reruns.",
}


def main() -> None:
    """Measure what was asked for, and write it."""
    asked = read_options(
        __doc__,
        HERE,
        data=Option(DATA, "folder of the extracts"),
        sets=Option(4_000, "simulated pairs of reruns"),
        seed=5,
        page=Option(False, "write the page again, measure nothing"),
    )
    if not asked.page:
        missing = [name for name in extracts.FILES if not (asked.data / name).is_file()]
        if missing:
            sys.exit(f"{asked.data} has no {missing[0]}: give its folder with --data")
        write_rows(asked.out, [*_about(asked.data, asked.day), *_measure(asked)])
    rows = read_rows(asked.out, Row)
    (asked.out / "results.md").write_text(report.page(rows), encoding="utf-8")
    plot.draw(rows, asked.out / "reruns.png")


def _about(data: Path, day: str) -> Iterator[Row]:
    names = ("numpy", "pandas", "scipy")
    versions = ", ".join(
        [f"Python {platform.python_version()}", *(f"{n} {version(n)}" for n in names)]
    )
    yield Row("about", "day", "", 0, 0.0, note=day)
    yield Row("about", "versions", "", 0, 0.0, note=versions)
    for name in extracts.FILES:
        digest = hashlib.sha256((data / name).read_bytes()).hexdigest()
        yield Row("about", Path(name).name, "sha256", 0, 0.0, note=digest)


def _measure(asked: argparse.Namespace) -> Iterator[Row]:
    repeated = extracts.repeated_runs(asked.data)
    flips = _flips(repeated)
    yield from _runs(repeated, flips)
    yield from _flip_rows(flips)
    yield from _new_letters(repeated, asked.data)
    yield from _places(repeated, asked.data)
    helm = extracts.helm_runs(asked.data)
    yield from _published(helm, asked.data)
    variances = {name: float(v.mean()) for name, (_, _, v) in flips.items()}
    yield from _five(helm, variances[ALL], asked)
    for scores in (extracts.helm_lite(asked.data), extracts.helm_mmlu(asked.data)):
        yield from _lists(scores, variances, asked)


Flips = dict[str, tuple[noise.Floats, noise.Floats, noise.Floats]]
"""By subject, of each question: whether it changes, how often two runs differ, the variance of right."""


def _flips(asked: Asked) -> Flips:
    gold = dict(zip(asked.items["item_id"], asked.items["gold"], strict=True))
    found: dict[str, list[tuple[float, float, float]]] = {}
    for (task, item), group in asked.answers.groupby(["task", "item_id"], sort=True):
        letters = group["letter"].fillna("").tolist()
        n = len(letters)
        same = sum(letters.count(a) for a in letters) - n
        right = letters.count(gold[item])
        entry = (
            float(len(set(letters)) > 1),
            1 - same / (n * (n - 1)),
            right * (n - right) / (n * (n - 1)),
        )
        found.setdefault(str(task), []).append(entry)
    found[ALL] = [entry for entries in list(found.values()) for entry in entries]
    return {name: tuple(np.array(entries).T) for name, entries in found.items()}  # type: ignore[misc]


def _both(asked: Asked) -> list[RunAccuracy]:
    whole = extracts.as_one_task(asked, ALL)
    return [*measure_runs(*asked), *measure_runs(*whole)]


def _runs(asked: Asked, flips: Flips) -> Iterator[Row]:
    runs = _both(asked)
    for task in sorted({run.task for run in runs}):
        for metric, read in sorted(READERS.items()):
            counted = [read(run) for run in runs if run.task == task and run.is_counted]
            yield Row("runs", task, metric, len(counted), mean(counted), min(counted), max(counted))
    sizes = {name: len(entries[0]) for name, entries in flips.items() if name != ALL}
    for task in [*sizes, ALL]:
        scores = [run.em_flexible for run in runs if run.task == task]
        freedom, squares = len(scores) - 1, float(np.var(scores, ddof=1)) * (len(scores) - 1)
        ends = [math.sqrt(squares / float(chi2.ppf(p, freedom))) for p in (0.975, 0.025)]
        yield Row("runs", task, "sd", len(scores), math.sqrt(squares / freedom), *ends)
        single = [float(flips[s][2].mean()) / n for s, n in sizes.items() if task in (s, ALL)]
        predicted = math.sqrt(math.fsum(single)) / len(single)
        yield Row("runs", task, "sd from single answers", len(scores), predicted)
        yield from (Row("run", task, "em_flexible", 1, score) for score in scores)


def _flip_rows(flips: Flips) -> Iterator[Row]:
    for name, (changed, differ, variance) in flips.items():
        n = len(changed)
        wilson = wilson_interval(float(changed.sum()), n)
        yield Row("flips", name, "questions that change", n, float(changed.mean()), *wilson)
        for measure, values in (("two runs differ", differ), ("rerun variance", variance)):
            half = student_quantile(n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
            mean = float(values.mean())
            yield Row("flips", name, measure, n, mean, max(0.0, mean - half), mean + half)


def _new_letters(asked: Asked, data: Path) -> Iterator[Row]:
    series: dict[str, list[str]] = {}
    runs = asked.answers.assign(letter=asked.answers["letter"].fillna(" ")).sort_values("replicate")
    for (task, _), answers in runs.groupby(["task", "item_id"], sort=True):
        series.setdefault(str(task), []).append("".join(answers["letter"]))
    series[ALL] = [letters for subject in list(series.values()) for letters in subject]
    for name, own in series.items():
        for measure, n in (("1 against 1", 1), ("2 against 2", 2)):
            yield Row("new", name, measure, len(own), new_letters.counted_share(own, n))
    ten = "10 against 10"
    estimate = new_letters.ten_against_ten(series[ALL])
    yield Row("new", ALL, ten, len(series[ALL]), *estimate, NOTES[ALL])
    long = extracts.long_series(data)
    part = new_letters.known_part(long)
    name = "college_mathematics, up to 28 runs"
    note = NOTES["series"].format(least=part.least, most=part.most)
    yield Row("new", name, ten, len(long), *part, note)
    for name, share in PAPER.items():
        yield Row("new", f"the paper: {name}", ten, 514, share, note=NOTES["paper"])


def _places(asked: Asked, data: Path) -> Iterator[Row]:
    published = extracts.published_subjects(data)
    runs = measure_runs(*asked)
    for subject in sorted({run.task for run in runs}):
        own = [run for run in runs if run.task == subject]
        table = published[published["subject"] == subject]
        scores_of = {r.model_id: float(r.em) for r in table.itertuples()}
        board = rank_models(subject, str(data), scores_of)
        rows = measure_ranks(own, board, baseline="offline")
        (row,) = (r for r in rows if r.metric == "em_flexible")
        scores = [run.em_flexible for run in own]
        for measure, numbers in (
            ("em_flexible", (float(np.mean(scores)), min(scores), max(scores))),
            ("place", (row.rank_median or 0, row.rank_best, row.rank_worst)),
            ("chance of another place", (row.p_change or 0.0,)),
        ):
            yield Row("places", subject, measure, row.n_units, *numbers)


def _published(asked: Asked, data: Path) -> Iterator[Row]:
    known = {
        (r.model_id, r.subject): float(r.em) for r in extracts.published_subjects(data).itertuples()
    }
    runs = measure_runs(*asked)
    for model in sorted({run.model for run in runs}):
        gaps = [
            abs(run.em_strict - known[model, run.task])
            for run in runs
            if run.model == model and (model, run.task) in known
        ]
        # published with three decimals
        equal = sum(gap < 0.00051 for gap in gaps)
        yield Row("published", model, "subjects equal to the published score", len(gaps), equal)
        yield Row("published", model, "largest difference", len(gaps), max(gaps))


def _five(asked: Asked, variance: float, options: argparse.Namespace) -> Iterator[Row]:
    whole = "macro mean of the nine"
    runs = [*measure_runs(*asked), *measure_runs(*extracts.as_one_task(asked, whole))]
    sizes = {run.task: run.n_items for run in runs if run.task != whole}
    for task in [*sizes, whole]:
        scores = [run.em_strict for run in runs if run.task == task]
        sd = noise.score_sd(variance, [sizes[task]] if task in sizes else list(sizes.values()))
        moved = noise.rerun_list(scores, sd, sets=options.sets, seed=options.seed)
        n = next(run.n_items for run in runs if run.task == task)
        told = {
            "score sd": sd,
            "order changes": moved.five_change,
            "first changes": moved.top_changes,
            "pairs that turn": moved.pairs,
        }
        yield from (Row("five", task, measure, n, value) for measure, value in told.items())


def _lists(
    scores: Scores, variances: dict[str, float], options: argparse.Namespace
) -> Iterator[Row]:
    subjects = sorted((v, name) for name, v in variances.items() if name != ALL)
    steady, unsteady = subjects[0], subjects[-1]
    noises = {
        "GPT-4o": (variances[ALL], ""),
        "steadiest subject": (steady[0], f", noise of {steady[1]}"),
        "least steady subject": (unsteady[0], f", noise of {unsteady[1]}"),
    }
    published = scores.published
    for word, (variance, suffix) in noises.items():
        sd = noise.score_sd(variance, scores.sizes)
        moved = noise.rerun_list(published, sd, sets=options.sets, seed=options.seed)
        name = f"{scores.name}, {len(published)} models{suffix}"
        for measure, value in _told(moved, sd, published).items():
            yield Row("list", name, measure, sum(scores.sizes), value)
        if scores.name.startswith("HELM Lite"):
            yield from (
                Row("curve", word, str(place), 1, float(p))
                for place, p in enumerate(moved.changes, 1)
            )


def _told(moved: noise.Moved, sd: float, published: Sequence[float]) -> dict[str, float]:
    return {
        "score sd": sd,
        "place changes": float(moved.changes.mean()),
        "place changes, first five": float(moved.changes[:5].mean()),
        "places moved": float(moved.places.mean()),
        "places moved, first five": float(moved.places[:5].mean()),
        "first changes": moved.top_changes,
        "first five change": moved.five_change,
        "pairs that turn": moved.pairs,
        "pairs that turn, closed form": noise.expected_turned_pairs(published, sd),
    }


if __name__ == "__main__":
    main()
