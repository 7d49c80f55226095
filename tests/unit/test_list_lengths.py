"""How many options a prompt asks for."""

import pytest

from fieldwork.list_lengths import list_length


@pytest.mark.parametrize(
    ("prompt", "length"),
    [
        ("Name five films.", 5),
        ("What are the top 10 universities in Europe?", 10),
        ("Recommend 7 hotels in Lisbon. Answer as a numbered list.", 7),
        ("Please give me twelve ideas for a party.", 12),
        ("Which are the five best books of the year? List the five titles only.", 5),
        ("I am 30 years old and have 2 children. Name four games for us.", 4),
        ("In 100 words, list six reasons.", 6),
        ("List 5 movies and 3 books.", 5),
        ("Nenne fünf Filme.", 5),
        ("Recomienda tres hoteles en Madrid.", 3),
        ("Donne-moi dix idées.", 10),
        ("Назови пять фильмов.", 5),
        ("推荐五部电影。", 5),
        ("请推荐10家酒店", 10),
        ("おすすめの映画を3本教えてください", 3),
        ("영화 다섯 편 말고 3편을 추천해 주세요", 3),
        ("Which three books would you give a child?", 3),
        ("I need 5 recommendations for hotels.", 5),
        ("Recommend three 5-star hotels.", 3),
        ("แนะนำภาพยนตร์ 5 เรื่อง", 5),
        # no number, a range, two requests, numbers of other things
        ("Which films do you like?", None),
        ("Name three to five films.", None),
        ("Name 3-5 films.", None),
        ("Name some films of the 1990s.", None),
        ("Name films in 50 words.", None),
        ("Which film of 2019 was the best?", None),
        ("Name one film.", None),
        ("I've read 3 books. Recommend some.", None),
        ("Which 90 minute film is best?", None),
        ("", None),
    ],
)
def test_the_number_a_prompt_asks_for(prompt: str, length: int | None) -> None:
    assert list_length(prompt) == length


def test_long_prompts_are_read_in_reasonable_time() -> None:
    assert list_length("name " * 20_000) is None
    assert list_length("top " * 20_000 + "5") == 5
