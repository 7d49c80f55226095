"""Which answers count: letters and lists without a reading, and the first number of each user."""

import dataclasses

import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.samples import number_frames, number_samples, option_samples
from unit.metrics.metric_frames import answer_frame, chosen, listed

ARM = Arm("m", "t", None, "c")


def test_a_letter_that_cannot_be_read_is_an_option_and_a_list_without_options_is_none() -> None:
    lists = listed("ba", None, (), item_id="lists")
    lost = [dataclasses.replace(row, outcome="failed", item_id="lost") for row in listed("a")]
    frame = answer_frame(lists + lost + chosen(["B", None], item_id="letters"))
    samples = option_samples(frame)[ARM]
    assert samples["lists"] == ([("a", "b")], [""], 2, 2, None)
    assert samples["letters"] == ([("B",), ("unknown",)], ["", ""], 1, 0, None)
    assert samples["lost"] == ([], [], 0, 0, None)


def test_the_first_number_of_a_user_to_a_prompt_counts() -> None:
    rows = [
        ("b", "p", 1, 9.0), ("b", "p", 0, None), ("a", "q", 1, 8.0), ("a", "q", 0, 1.0),
        ("b", "q", 0, 2.0), ("c", "q", 0, None),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item_id", "puppet_id", "replicate", "words"])
    frame = frame.assign(model="m", task="t", condition="c", is_truncated=[True, False] * 3)
    ((arm, sorted_rows),) = number_frames(frame)
    assert arm == ARM
    sample = number_samples(sorted_rows, ["words"])["words"]
    assert (sample.values.tolist(), sample.items.tolist()) == ([1.0, 9.0, 2.0], [0, 1, 1])
    assert (sample.item_names, sample.units.tolist()) == (["a", "b"], [0, 1, 0])
    assert (sample.n_without, sample.n_truncated, sample.has_users) == (1, 1, True)
