"""The built-in programs: their parameters and the ranks that each can use."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.formats.matrix_market import read_traffic, write_traffic
from searchspace.validation import nearest

__all__ = ["BUILTINS", "PARAMETERS", "Builtin", "BuiltinRun", "validate"]

CLASSES = ("S", "W", "A", "B")
MORE_CLASSES = (*CLASSES, "C")
MOST_ITERATIONS = 1_000_000
MOST_MATRIX_CHARACTERS = 16_000_000

PARAMETERS: Mapping[str, str] = {
    "bytes": "bytes of a message",
    "class": "size of the problem, S the smallest",
    "edges": "edges of the graph for each vertex",
    "iterations": "how many iterations run",
    "log2n": "binary logarithm of the number of points",
    "longest": "bytes of the longest message",
    "n": "rows and columns of the matrices",
    "operation": "collective operation that is called",
    "points": "points along each side of the cube",
    "repeats": "how often all of it is done",
    "scale": "binary logarithm of the number of vertices",
    "searches": "how many searches run",
}
"""What the parameters of built-in programs mean, by name: one line for people."""


@dataclass(frozen=True)
class Builtin:
    """A built-in program.

    Attributes:
        name: Its name in job files.
        description: One line for people.
        read_parameters: Completes and checks the parameters, everything but the ranks.
        ranks_obstacle: Says why the program cannot use so many ranks with these parameters.
        files: Parameters that are the text of a file, which the program reads.
    """

    name: str
    description: str
    read_parameters: Callable[[Mapping[str, Any]], dict[str, str | int]]
    ranks_obstacle: Callable[[Mapping[str, str | int], int], str | None]
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class BuiltinRun:
    """A built-in program with its parameters and ranks.

    Attributes:
        program: A key of `BUILTINS`.
        parameters: Every parameter of the program (`{"class": "A"}`, `{"n": 1000}`).
        ranks: How many ranks run it.
    """

    program: str
    parameters: dict[str, str | int]
    ranks: int

    @property
    def key(self) -> str:
        """Names the run: equal for equal runs (`cg:class=A:ranks=64`)."""
        files = BUILTINS[self.program].files
        parameters = [
            f"{name}={_digest(value) if name in files else value}"
            for name, value in self.parameters.items()
        ]
        return ":".join((self.program, *parameters, f"ranks={self.ranks}"))


def _digest(text: str | int) -> str:
    return hashlib.sha256(str(text).encode()).hexdigest()[:16]


def _check_class(parameters: Mapping[str, Any], classes: tuple[str, ...]) -> None:
    allowed = ", ".join(classes)
    if "class" not in parameters:
        raise InvalidInput(f"is required; allowed: {allowed}", field="class")
    if parameters["class"] not in classes:
        raise InvalidInput(
            f"unknown class '{parameters['class']}'; allowed: {allowed}", field="class"
        )


def _read_class(parameters: Mapping[str, Any]) -> dict[str, str | int]:
    _refuse_unknown(parameters, ("class",))
    _check_class(parameters, CLASSES)
    return {"class": parameters["class"]}


def _read_more_classes(parameters: Mapping[str, Any]) -> dict[str, str | int]:
    _refuse_unknown(parameters, ("class",))
    _check_class(parameters, MORE_CLASSES)
    return {"class": parameters["class"]}


def _read_class_and_iterations(parameters: Mapping[str, Any]) -> dict[str, str | int]:
    """Reads the class and, where it is given, another number of iterations than the class's."""
    _refuse_unknown(parameters, ("class", "iterations"))
    _check_class(parameters, MORE_CLASSES)
    complete: dict[str, str | int] = {"class": parameters["class"]}
    if "iterations" in parameters:
        iterations = parameters["iterations"]
        whole = isinstance(iterations, int) and not isinstance(iterations, bool)
        if not whole or not 1 <= iterations <= MOST_ITERATIONS:
            raise InvalidInput(
                f"must be a whole number from 1 to {MOST_ITERATIONS}, not {iterations!r}",
                field="iterations",
            )
        complete["iterations"] = iterations
    return complete


def _read_order(parameters: Mapping[str, Any]) -> dict[str, str | int]:
    _refuse_unknown(parameters, ("n",))
    n = parameters.get("n", 1000)
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 100_000:
        raise InvalidInput(f"must be a whole number from 1 to 100000, not {n!r}", field="n")
    return {"n": n}


@dataclass(frozen=True)
class _Number:
    """A whole number that a program takes: what it is when nothing is said, and its limits."""

    default: int
    low: int
    high: int

    def read(self, name: str, value: Any) -> int:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not self.low <= value <= self.high:
            raise InvalidInput(
                f"must be a whole number from {self.low} to {self.high}, not {value!r}", field=name
            )
        return int(value)


def _numbers(**numbers: _Number) -> Callable[[Mapping[str, Any]], dict[str, str | int]]:
    """Makes the reader of a program that takes whole numbers, in this order."""

    def read(parameters: Mapping[str, Any]) -> dict[str, str | int]:
        _refuse_unknown(parameters, tuple(numbers))
        return {
            name: number.read(name, parameters.get(name, number.default))
            for name, number in numbers.items()
        }

    return read


def _read_collective(parameters: Mapping[str, Any]) -> dict[str, str | int]:
    operations = ("allgather", "allreduce", "alltoall", "bcast", "gather", "reduce", "scatter")
    operation = parameters.get("operation")
    allowed = ", ".join(operations)
    if operation is None:
        raise InvalidInput(f"is required; allowed: {allowed}", field="operation")
    if operation not in operations:
        raise InvalidInput(
            f"unknown operation {operation!r}; allowed: {allowed}", field="operation"
        )
    numbers = _numbers(bytes=_Number(1 << 20, 8, 1 << 30), repeats=_Number(1, 1, 100_000))
    _refuse_unknown(parameters, ("operation", "bytes", "repeats"))
    rest = numbers({name: value for name, value in parameters.items() if name != "operation"})
    if int(rest["bytes"]) % 8:
        raise InvalidInput(f"must be a multiple of 8, not {rest['bytes']}", field="bytes")
    return {"operation": operation, **rest}


def _read_player(parameters: Mapping[str, Any]) -> dict[str, str | int]:
    """Reads the matrix into its one form; what a pair exchanges is split between both."""
    _refuse_unknown(parameters, ("matrix", "rounds"))
    text = parameters.get("matrix")
    if text is None:
        raise InvalidInput("is required: a MatrixMarket file", field="matrix")
    if not isinstance(text, str) or "\n" not in text.strip():
        raise InvalidInput("must be the text of a MatrixMarket file", field="matrix")
    if len(text) > MOST_MATRIX_CHARACTERS:
        raise InvalidInput(
            f"has {len(text)} characters; at most {MOST_MATRIX_CHARACTERS}", field="matrix"
        )
    try:
        traffic = read_traffic(text)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="matrix") from error
    rounds = _numbers(rounds=_Number(10, 1, MOST_ITERATIONS))
    rest = {name: value for name, value in parameters.items() if name == "rounds"}
    return {"matrix": write_traffic(traffic), **rounds(rest)}


def _refuse_unknown(parameters: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for name in parameters:
        if name not in allowed:
            known = ", ".join(("builtin", "ranks", *allowed))
            raise InvalidInput(f"unknown field; allowed: {known}", field=name)


def _power_of_two_up_to(limits: Mapping[str, int]) -> Callable[..., str | None]:
    """Makes the rule of the NAS benchmarks: 2^k ranks, and a piece of the problem for each."""

    def obstacle(parameters: Mapping[str, str | int], ranks: int) -> str | None:
        limit = limits[str(parameters["class"])]
        if ranks & (ranks - 1) == 0 and ranks <= limit:
            return None
        return f"class {parameters['class']} needs a power of two up to {limit}, not {ranks}"

    return obstacle


def _square_up_to(limits: Mapping[str, int]) -> Callable[..., str | None]:
    """Makes the rule of BT and SP: a square number of ranks, a layer of cells for each side."""

    def obstacle(parameters: Mapping[str, str | int], ranks: int) -> str | None:
        limit = limits[str(parameters["class"])]
        if math.isqrt(ranks) ** 2 == ranks and ranks <= limit:
            return None
        return f"class {parameters['class']} needs a square number up to {limit}, not {ranks}"

    return obstacle


def _up_to(limits: Mapping[str, int]) -> Callable[..., str | None]:
    def obstacle(parameters: Mapping[str, str | int], ranks: int) -> str | None:
        limit = limits[str(parameters["class"])]
        return None if ranks <= limit else f"class {parameters['class']} needs at most {limit}"

    return obstacle


def _cells(points: int) -> int:
    """Ranks of BT and SP on a cube of so many points a side: a cell needs three along an axis."""
    side: int = points // 3
    return side * side


def _pencils(points: int) -> int:
    """Ranks of LU on such a cube: a pencil needs two points along each of the axes that are cut."""
    longest = _power_below(points // 2)
    return longest * longest


def _square(parameters: Mapping[str, str | int], ranks: int) -> str | None:
    side = math.isqrt(ranks)
    if side * side != ranks:
        return f"must be a square number, not {ranks}"
    if side > int(parameters["n"]):
        return f"must be at most n x n, with n = {parameters['n']}, not {ranks}"
    return None


def _limits(rule: Callable[[int], int], sizes: tuple[int, ...]) -> dict[str, int]:
    return {class_: rule(size) for class_, size in zip(MORE_CLASSES, sizes, strict=True)}


def _at_least_two(parameters: Mapping[str, str | int], ranks: int) -> str | None:
    return None if ranks >= 2 else f"must be at least 2, not {ranks}"


def _any(parameters: Mapping[str, str | int], ranks: int) -> str | None:
    return None


def _rows_of_the_matrix(parameters: Mapping[str, str | int], ranks: int) -> str | None:
    limit: int = 1 << (int(parameters["log2n"]) // 2)
    if ranks & (ranks - 1) == 0 and ranks <= limit:
        return None
    return f"length 2^{parameters['log2n']} needs a power of two up to {limit}, not {ranks}"


def _vertices(parameters: Mapping[str, str | int], ranks: int) -> str | None:
    limit: int = 1 << int(parameters["scale"])
    return None if ranks <= limit else f"must be at most 2^scale = {limit}, not {ranks}"


def _points_a_side(parameters: Mapping[str, str | int], ranks: int) -> str | None:
    """As MPI_Dims_create cuts: no cube gives a part to more ranks than it has points."""
    points = int(parameters["points"])
    return None if ranks <= points**3 else f"must be at most points^3 = {points**3}, not {ranks}"


def _as_many_as_rows(parameters: Mapping[str, str | int], ranks: int) -> str | None:
    rows = int(str(parameters["matrix"]).splitlines()[1].split()[0])
    return None if rows == ranks else f"must be {rows}, as many as the matrix has rows, not {ranks}"


def _power_below(number: int) -> int:
    return 1 << (number.bit_length() - 1)


BUILTINS: dict[str, Builtin] = {
    program.name: program
    for program in (
        Builtin(
            "beff",
            "b_eff: effective bandwidth, rings of ranks with 21 message sizes",
            _numbers(longest=_Number(1 << 20, 4096, 1 << 28), repeats=_Number(1, 1, 10_000)),
            _at_least_two,
        ),
        Builtin(
            "bt",
            "NPB BT: block tridiagonal solver, sweeps over a multi-partition",
            _read_class_and_iterations,
            # The cells of NPB's multi-partition.
            _square_up_to(_limits(_cells, (12, 24, 64, 102, 162))),
        ),
        Builtin(
            "cg",
            "NPB CG: conjugate gradient, point-to-point on rows and columns of ranks",
            _read_class,
            # Every rank holds at least one row of the matrix.
            _power_of_two_up_to(
                {
                    c: _power_below(n)
                    for c, n in zip(CLASSES, (1400, 7000, 14000, 75000), strict=True)
                }
            ),
        ),
        Builtin(
            "collective",
            "one collective operation over and over",
            _read_collective,
            _any,
        ),
        Builtin(
            "ep",
            "NPB EP: random numbers, hardly any communication",
            _read_more_classes,
            # A batch of 2^16 pairs for every rank.
            _up_to(_limits(lambda exponent: 1 << (exponent - 16), (24, 25, 28, 30, 32))),
        ),
        Builtin(
            "fft1d",
            "one-dimensional Fourier transform in six steps, three transposes",
            _numbers(log2n=_Number(20, 2, 28)),
            _rows_of_the_matrix,
        ),
        Builtin(
            "ft",
            "NPB FT: three-dimensional Fourier transform, all-to-all",
            _read_class,
            # A grid of nz x nz ranks is the last that cuts the planes.
            _power_of_two_up_to(
                {c: nz * nz for c, nz in zip(CLASSES, (64, 32, 128, 256), strict=True)}
            ),
        ),
        Builtin(
            "graph500",
            "Graph500: breadth-first searches of a Kronecker graph, validated",
            _numbers(
                scale=_Number(12, 1, 24), edges=_Number(16, 1, 64), searches=_Number(64, 1, 10_000)
            ),
            _vertices,
        ),
        Builtin(
            "is",
            "NPB IS: integer sort in buckets, all-to-all of unequal parts",
            _read_class,
            # The limits of the benchmark itself, so that no rank is left without buckets.
            _power_of_two_up_to(dict(zip(CLASSES, (128, 1024, 1024, 1024), strict=True))),
        ),
        Builtin(
            "lu",
            "NPB LU: SSOR solver, wavefronts of small messages through pencils",
            _read_class_and_iterations,
            # Faces are exchanged two layers deep.
            _power_of_two_up_to(_limits(_pencils, (12, 33, 64, 102, 162))),
        ),
        Builtin(
            "mg",
            "NPB MG: multigrid, halo exchange on a 3-D grid of ranks",
            _read_class,
            # At least one point of the finest grid a rank.
            _power_of_two_up_to(
                {c: side**3 for c, side in zip(CLASSES, (32, 128, 256, 256), strict=True)}
            ),
        ),
        Builtin(
            "mm",
            "matrix product (SUMMA), broadcasts along rows and columns of ranks",
            _read_order,
            _square,
        ),
        Builtin(
            "pingpong",
            "every pair of ranks bounces a message, one pair after the other",
            _numbers(bytes=_Number(1024, 0, 1 << 30), repeats=_Number(10, 1, 1_000_000)),
            _at_least_two,
        ),
        Builtin(
            "player",
            "plays a communication matrix with MPI_Alltoallv, over and over",
            _read_player,
            _as_many_as_rows,
            files=("matrix",),
        ),
        Builtin(
            "sp",
            "NPB SP: scalar pentadiagonal solver, sweeps over a multi-partition",
            _read_class_and_iterations,
            # As for BT; class W is larger.
            _square_up_to(_limits(_cells, (12, 36, 64, 102, 162))),
        ),
        Builtin(
            "stencil3d",
            "seven-point Jacobi iteration on a cube, halo exchange with six neighbours",
            _numbers(points=_Number(64, 1, 4096), iterations=_Number(100, 1, 1_000_000)),
            _points_a_side,
        ),
    )
}


def validate(program: str, parameters: Mapping[str, Any], ranks: int) -> BuiltinRun:
    """Checks a run of a built-in program.

    Args:
        program: A key of `BUILTINS`.
        parameters: Those of the program; `class` is required where there are classes.
        ranks: How many ranks run it.

    Raises:
        InvalidInput: No such program, class or parameter, or ranks that it cannot use.
    """
    if program not in BUILTINS:
        raise InvalidInput(
            f"unknown program '{program}'; allowed: {', '.join(BUILTINS)}"
            + nearest(program.lower(), BUILTINS),
            field="builtin",
        )
    builtin = BUILTINS[program]
    complete = builtin.read_parameters(parameters)
    if ranks < 1:
        raise InvalidInput(f"must be at least 1, not {ranks}", field="ranks")
    reason = builtin.ranks_obstacle(complete, ranks)
    if reason is not None:
        raise InvalidInput(reason, field="ranks")
    return BuiltinRun(program, complete, ranks)
