"""Seeds of cells: names keep them apart, versions do not."""

from fieldwork.statistics.seeds import generator


def test_generators_differ_by_seed_and_name_and_by_nothing_else() -> None:
    draws = {
        generator(seed, *names).random()
        for seed in (1, 2)
        for names in (("a", "bc"), ("ab", "c"), ("a", "b", "c"), ())
    }
    assert len(draws) == 8
    assert generator(1, "a").random() == generator(1, "a").random()


def test_a_generator_does_not_change_between_versions() -> None:
    assert generator(7, "bootstrap", "m").integers(0, 1000, 4).tolist() == [155, 221, 124, 84]
