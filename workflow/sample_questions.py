"""Draws a test set from a log of questions: `make questions LOG=my/log.csv N=50`.

Questions are drawn by language, topic and length, each with its share of the log. Nearly equal ones are
drawn once. Personal data that has a form of its own is masked. The file that it writes has empty columns
for the options and the right one, for you to fill in. It replaces no file and sends nothing anywhere.
"""

import argparse
import csv
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "scripts"))

from fieldwork.encoder import VECTORS, Encoder, EncoderSettings
from fieldwork.errors import StudyError
from fieldwork.field.language import language_of
from fieldwork.files.texts import read_texts
from fieldwork.privacy import mask
from fieldwork.tasks.log_samples import LogSample, describe_questions, sample_questions

MOST_ENCODED = 5_000
"""Questions of a larger log that are looked at, drawn at random."""

UNKNOWN = "unknown"
OPTIONS = tuple(f"option_{letter}" for letter in "abcd")
COLUMNS = ("item_id", "question", *OPTIONS, "gold", "language", "topic", "length")


def main(log: str, column: str, n: int, seed: int, out: str) -> None:
    """Read the log, draw and write.

    Raises:
        StudyError: the log cannot be read or has too few questions, or there is a file already.
    """
    path = Path(out)
    if path.exists():
        raise StudyError(f"OUT={path}: the file exists already; choose another, or delete it")
    if n < 1:
        raise StudyError(f"N={n}: draw at least one question")
    texts = read_log(Path(log), column, seed)
    languages = [language_of(text) or UNKNOWN for text in texts]
    vectors = Encoder(EncoderSettings(), VECTORS / "log.sqlite").encode(texts, "encode the log")
    questions = describe_questions(texts, languages, vectors, n, seed)
    sample = sample_questions(questions, vectors, n, seed)
    n_masked = write_sample(path, sample)
    print_sample(sample, len(texts), n, n_masked)
    print(f"\nWrote {path}. Read every question, and change or delete what names a person.")
    print(
        "Then write options and the letter of the right one, and delete questions that have none:"
    )
    print(f"  make study NAME=practice QUESTIONS={path}")


def read_log(log: Path, column: str, seed: int) -> list[str]:
    """The texts of a log without repeats and blanks; of a large log a random part."""
    if not log.is_file():
        raise StudyError(f"LOG={log}: the file does not exist; correct the path")
    stripped = (" ".join(text.split()) for text in read_texts([log], column or None))
    texts = sorted({text for text in stripped if any(map(str.isalpha, text))})
    if not texts:
        raise StudyError(f"LOG={log}: it has no questions; name their column in COLUMN=")
    if len(texts) > MOST_ENCODED:
        print(
            f"{log}: {len(texts):,} different questions, of which {MOST_ENCODED:,} at random are used."
        )
        texts = sorted(random.Random(seed).sample(texts, MOST_ENCODED))
    return texts


def write_sample(path: Path, sample: LogSample) -> int:
    """Write the questions, masked, and give the number of places that were masked."""
    path.parent.mkdir(parents=True, exist_ok=True)
    n_masked = 0
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number, question in enumerate(sample.questions):
            masked = mask(question.text)
            n_masked += masked.n_masked
            cells = [f"{path.stem}-{number:03d}", masked.text, *[""] * len((*OPTIONS, "gold"))]
            writer.writerow([*cells, question.language, question.topic, question.length])
    return n_masked


def print_sample(sample: LogSample, n_texts: int, n: int, n_masked: int) -> None:
    """Print what was drawn."""
    questions = sample.questions
    print(f"Drew {len(questions)} of {n_texts:,} different questions.")
    if len(questions) < n:
        print(f"CHECK: {n} were wished, but the log has no more that differ enough.")
    for name in ("language", "topic", "length"):
        values = [getattr(question, name) for question in questions]
        counts = sorted({(-values.count(value), value) for value in values})
        print(f"  {name}: " + ", ".join(f"{value} {-count}" for count, value in counts))
    print(f"  passed over, as one like them was drawn: {sample.n_repeats}")
    print(f"  masked: {n_masked} names, addresses, links and numbers (docs/field.md)")


def parser() -> argparse.ArgumentParser:
    """The options that `make questions` passes on."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--log", default="", help="CSV, Excel, JSON, Parquet, or .txt with a question a line"
    )
    options.add_argument("--column", default="", help="the column with the questions")
    options.add_argument("--n", type=int, default=50, help="questions to draw")
    options.add_argument("--seed", type=int, default=0, help="another seed draws others")
    options.add_argument("--out", default="my/questions.csv", help="file to write")
    return options


if __name__ == "__main__":
    try:
        main(**vars(parser().parse_args()))
    except StudyError as error:
        sys.exit(f"ERROR: {error}")
