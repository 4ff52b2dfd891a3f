from hypothesis import given
from hypothesis import strategies as st

from service.tables.answers import Answers


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40))), st.integers(0, 100))
def test_what_is_kept_is_the_last_that_was_put_and_fits(
    puts: list[tuple[int, int]], most: int
) -> None:
    answers = Answers(most)
    last: dict[int, bytes] = {}
    for asked, size in puts:
        last[asked] = bytes(size)
        answers.put(asked, last[asked])

    kept = {asked: answers.get(asked) for asked in last}

    assert all(found in (None, last[asked]) for asked, found in kept.items())
    assert sum(len(found) for found in kept.values() if found is not None) <= most
    if puts and len(last[puts[-1][0]]) <= most:
        assert kept[puts[-1][0]] is not None


def test_what_nobody_asks_for_goes_first() -> None:
    answers = Answers(20)
    answers.put("a", b"x" * 10)
    answers.put("b", b"x" * 10)
    answers.get("a")
    answers.put("c", b"x" * 10)

    assert [answers.get(name) is None for name in "abc"] == [False, True, False]


def test_what_is_larger_than_the_room_drives_nothing_out() -> None:
    answers = Answers(20)
    answers.put("a", b"x" * 10)
    answers.put("b", b"x" * 10)
    answers.put("b", b"x" * 21)

    assert [answers.get(name) is None for name in "ab"] == [False, True]
    answers.put("c", b"x" * 10)
    assert [answers.get(name) is None for name in "ac"] == [False, False]
