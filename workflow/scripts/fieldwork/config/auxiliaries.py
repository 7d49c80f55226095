"""Auxiliary tasks: questions that a study asks for its own use and not to measure them.

Attributes are read off conversations and weighed against questions, and answers are judged, by models.
They are asked as for any task: through the same rules, ledgers, plan and bill. An auxiliary task has one
condition, without a user, of the same name. Neither is in the registries that users write.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.config.layers import Config


class Auxiliary(NamedTuple):
    """An auxiliary task, and who is asked it.

    Attributes:
        models: of the config's registry; each is asked every question.
        runs: how often each question is asked.
        temperature, max_tokens: of each answer.
        kind: of the questions.
        n_items: about how many there will be, for a plan before they are there.
        question_tokens: about how long they will be.
    """

    models: Sequence[str]
    runs: int
    temperature: float
    max_tokens: int
    kind: str
    n_items: int
    question_tokens: int

    def task(self) -> Config:
        """What an entry of `tasks` would say."""
        return {
            "sources": [{"kind": self.kind, "item_ids": []}],
            "runs": self.runs,
            "max_tokens": self.max_tokens,
            "assumed": {"items": self.n_items, "question_tokens": self.question_tokens},
        }

    def condition(self, name: str) -> Config:
        """What an entry of `conditions` would say."""
        return {"context": "none", "label": name, "temperature": self.temperature}
