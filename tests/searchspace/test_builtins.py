"""The built-in programs and the ranks they can use."""

from __future__ import annotations

from typing import Any

import pytest

from searchspace.builtins import BUILTINS, validate
from searchspace.errors import InvalidInput


@pytest.mark.parametrize(
    ("program", "parameters", "ranks", "key"),
    [
        ("cg", {"class": "A"}, 64, "cg:class=A:ranks=64"),
        ("ft", {"class": "W"}, 1024, "ft:class=W:ranks=1024"),
        ("is", {"class": "S"}, 1, "is:class=S:ranks=1"),
        ("mg", {"class": "B"}, 512, "mg:class=B:ranks=512"),
        ("lu", {"class": "A"}, 64, "lu:class=A:ranks=64"),
        ("bt", {"class": "C", "iterations": 8}, 36, "bt:class=C:iterations=8:ranks=36"),
        ("sp", {"class": "W"}, 144, "sp:class=W:ranks=144"),
        ("ep", {"class": "S"}, 7, "ep:class=S:ranks=7"),
        ("mm", {}, 36, "mm:n=1000:ranks=36"),
        ("mm", {"n": 64}, 16, "mm:n=64:ranks=16"),
    ],
)
def test_a_run_has_all_parameters_and_a_key(
    program: str, parameters: dict[str, Any], ranks: int, key: str
) -> None:
    run = validate(program, parameters, ranks)
    assert run.key == key
    assert validate(program, run.parameters, ranks) == run


@pytest.mark.parametrize(
    ("program", "parameters", "ranks", "message"),
    [
        ("IS", {}, 4, "did you mean 'is'"),
        ("ua", {}, 4, "unknown program 'ua'; allowed: beff, bt, cg, collective, ep"),
        ("cg", {}, 4, "class: is required; allowed: S, W, A, B"),
        ("cg", {"class": "C"}, 4, "class: unknown class 'C'; allowed: S, W, A, B"),
        ("cg", {"class": "S", "n": 5}, 4, "n: unknown field; allowed: builtin, ranks, class"),
        ("mm", {"class": "S"}, 4, "class: unknown field; allowed: builtin, ranks, n"),
        ("mm", {"n": "many"}, 4, "n: must be a whole number from 1"),
        ("mm", {"n": 2}, 9, "ranks: must be at most n x n"),
        ("mm", {}, 8, "ranks: must be a square number, not 8"),
        ("ft", {"class": "S"}, 12, "ranks: class S needs a power of two up to 4096, not 12"),
        ("is", {"class": "S"}, 256, "ranks: class S needs a power of two up to 128, not 256"),
        ("lu", {"class": "D"}, 4, "class: unknown class 'D'; allowed: S, W, A, B, C"),
        ("lu", {"class": "S", "iterations": 0}, 4, "iterations: must be a whole number from 1"),
        ("lu", {"class": "S"}, 32, "ranks: class S needs a power of two up to 16, not 32"),
        ("bt", {"class": "S"}, 8, "ranks: class S needs a square number up to 16, not 8"),
        ("sp", {"class": "S"}, 25, "ranks: class S needs a square number up to 16, not 25"),
        ("ep", {"class": "S"}, 257, "ranks: class S needs at most 256"),
        ("ep", {"class": "S", "iterations": 2}, 1, "iterations: unknown field"),
        ("player", {}, 2, "matrix: is required: a MatrixMarket file"),
        ("player", {"matrix": "w.mtx"}, 2, "matrix: must be the text of a MatrixMarket file"),
        ("player", {"matrix": "0 1\nx 0\n"}, 2, "matrix: line 2 of the traffic matrix is not"),
        ("player", {"matrix": "0 1\n1 0\n"}, 3, "ranks: must be 2, as many as the matrix has rows"),
        ("player", {"matrix": "0 1\n1 0\n", "rounds": 0}, 2, "rounds: must be a whole number"),
        (
            "player",
            {"file": "x"},
            2,
            "file: unknown field; allowed: builtin, ranks, matrix",
        ),
        ("mg", {"class": "S"}, 0, "ranks: must be at least 1, not 0"),
    ],
)
def test_refuses(program: str, parameters: dict[str, Any], ranks: int, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        validate(program, parameters, ranks)


def test_every_program_is_described() -> None:
    assert all(program.description for program in BUILTINS.values())


@pytest.mark.parametrize(
    ("program", "parameters", "ranks", "message"),
    [
        ("pingpong", {}, 1, "ranks: must be at least 2, not 1"),
        (
            "pingpong",
            {"bytes": -1},
            2,
            "bytes: must be a whole number from 0 to 1073741824, not -1",
        ),
        ("collective", {}, 4, "operation: is required; allowed: allgather, allreduce"),
        ("collective", {"operation": "scan"}, 4, "operation: unknown operation 'scan'; allowed: "),
        ("collective", {"operation": "bcast", "bytes": 12}, 4, "bytes: must be a multiple of 8"),
        ("fft1d", {"log2n": 8}, 32, r"ranks: length 2\^8 needs a power of two up to 16, not 32"),
        ("graph500", {"scale": 3}, 9, r"ranks: must be at most 2\^scale = 8, not 9"),
        ("stencil3d", {"points": 2}, 9, r"ranks: must be at most points\^3 = 8, not 9"),
        ("stencil3d", {"n": 2}, 8, "n: unknown field; allowed: builtin, ranks, points, iterations"),
    ],
)
def test_communication_programs_refuse(
    program: str, parameters: dict[str, Any], ranks: int, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        validate(program, parameters, ranks)


def test_parameters_come_in_the_order_of_the_arguments() -> None:
    run = validate("collective", {"repeats": 2, "operation": "bcast"}, 4)
    assert list(run.parameters.items()) == [
        ("operation", "bcast"),
        ("bytes", 1048576),
        ("repeats", 2),
    ]


def test_a_matrix_has_one_form_and_is_named_by_its_content() -> None:
    plain = validate("player", {"matrix": "0 3\n3 0\n"}, 2)
    assert plain.parameters == {
        "matrix": "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 3\n",
        "rounds": 10,
    }
    assert validate("player", plain.parameters, 2) == plain
    assert len(plain.key) < 60
    assert plain.key != validate("player", {"matrix": "0 4\n4 0\n"}, 2).key
