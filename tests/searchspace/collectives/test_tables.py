"""What people are told of the decision tables of MPI implementations."""

from __future__ import annotations

from searchspace.collectives import DEFAULT, LIBRARIES, SELECTORS
from searchspace.collectives.tables import imitated, release


def test_each_value_of_mpi_says_whose_choice_it_is_and_by_what() -> None:
    said = {name: imitated(name) for name in SELECTORS}
    assert len(set(said.values())) == len(SELECTORS)
    for name, words in said.items():
        assert words.startswith(f"what {release(name)} chooses for each call")
        assert "message size" in words
    assert "no MPI library" in imitated(DEFAULT)


def test_an_old_release_names_the_newer_one_of_the_same_library() -> None:
    for newer, older in LIBRARIES.items():
        assert newer in imitated(older)
    assert "newer" not in imitated("impi")
