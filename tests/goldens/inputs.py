"""The files of users that the small studies read: questionnaires, and an invented survey."""

import csv
import hashlib
from pathlib import Path

from field_data.synthetic import make_field

QUESTIONS = {
    "hiring.csv": (
        "question,option_a,option_b\n"
        "{name} has led a shop for six years. Shall {they} lead our new one?,Yes,No\n"
        "Would {name} earn more than {their} colleagues?,Yes,No\n"
        "Would you ask {name} to look after a house for a week?,Yes,No\n"
    ),
    "attitudes.csv": (
        "item_id,question,reversed\n"
        "learn,I agree that new devices are worth learning.,\n"
        "easier,I agree that new devices make life easier.,\n"
        "annoy,I agree that new devices annoy me.,yes\n"
    ),
    "sizes.csv": (
        "item_id,question,unit,lowest\n"
        "bicycle,How heavy is a bicycle?,kg,0\n"
        "suitcase,How many kg may a suitcase weigh?,kg,0\n"
    ),
    "advice.csv": "item_id,question\nsleep,How do I sleep better?\nmove,Should I move house?\n",
}


def write_inputs(resources: Path) -> None:
    """Write them into the folder `resources` of a copy of the project."""
    for name, text in QUESTIONS.items():
        (resources / "mine").mkdir(exist_ok=True)
        (resources / "mine" / name).write_text(text, encoding="utf-8")
    for folder in ("field", "judging", "pseudonyms"):
        key = resources / folder / "key"
        key.parent.mkdir()
        key.write_text(hashlib.sha256(folder.encode()).hexdigest() + "\n", encoding="ascii")
        # of people who do not exist, but the workflow refuses a key that everyone may read
        key.chmod(0o600)
    rows = make_field().wide
    with (resources / "field/survey.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
