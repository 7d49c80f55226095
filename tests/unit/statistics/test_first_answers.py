"""Who counts once, and who counts every time."""

from fieldwork.statistics.first_answers import first_answers


def test_a_user_counts_once_and_answers_without_a_user_all_count() -> None:
    answers = [("", 1), ("b", 2), ("a", 3), ("b", 4), ("", 5), ("a", 6)]
    firsts = first_answers(answers, lambda answer: answer[0])
    assert firsts == [("", 1), ("b", 2), ("a", 3), ("", 5)]
    assert first_answers([], lambda answer: str(answer)) == []
