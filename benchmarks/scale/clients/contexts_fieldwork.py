"""Fieldwork: histories of as many puppets as a job asks for, from a prepared corpus.

python contexts_fieldwork.py CONVERSATIONS CONTEXTS PUPPETS RESULT
"""

import json
import sys
import time
from pathlib import Path

from fieldwork import tables
from fieldwork.puppets.contexts import draw_random, history_contexts
from fieldwork.records.puppets import Context, Conversation
from fieldwork.sections.conditions import HistoryCondition

CONDITION = HistoryCondition(label="History", context="history")
SEED = 2509


def main() -> None:
    """Do the job."""
    conversations, contexts, puppets, result = sys.argv[1:]
    begun = time.perf_counter()
    users = tables.read_groups(conversations, "user_id", "conversation_id")
    draws = draw_random(users, int(puppets), CONDITION, SEED)
    used = {i for draw in draws for i in draw.conversation_ids}
    rows = tables.read_lookup(conversations, Conversation, "conversation_id", used)
    made = history_contexts(draws, rows, CONDITION)
    tables.write_rows(contexts, made, Context)
    seconds = time.perf_counter() - begun
    n_bytes = Path(contexts).stat().st_size
    measured = {"seconds": seconds, "rows": int(puppets), "out_bytes": n_bytes}
    Path(result).write_text(json.dumps(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
