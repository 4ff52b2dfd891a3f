"""The flow problem of LU, BT and SP: its parts are what they say, apart from NPB's totals."""

from __future__ import annotations

import ctypes
import subprocess
from ctypes import POINTER, Structure, c_double, c_int

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from workers.capture import APPLICATIONS

Array = NDArray[np.float64]

POINTS = 20
AXIS = st.integers(0, 2)


class Flow(Structure):
    _fields_ = (
        ("points", c_int),
        ("step", c_double),
        ("first", c_double),
        ("second", c_double),
    )


class Motion(Structure):
    _fields_ = (
        ("volume", c_double),
        ("velocity", c_double * 3),
        ("kinetic", c_double),
        ("specific", c_double),
    )


@pytest.fixture(scope="session")
def cfd(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    target = tmp_path_factory.mktemp("library") / "cfd.so"
    sources = [str(APPLICATIONS / "common/cfd" / name) for name in ("flow.c", "blocks.c")]
    command = ["cc", "-std=c11", "-O2", "-fPIC", "-shared", *sources, "-o", str(target), "-lm"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(target))
    library.flow_make.restype = Flow
    library.flow_make.argtypes = [c_int, c_double]
    library.flow_motion.restype = Motion
    return library


def pointer(array: Array) -> ctypes._Pointer[c_double]:
    return array.ctypes.data_as(POINTER(c_double))


@st.composite
def states(draw: st.DrawFn) -> Array:
    """Density and energy are positive, and pressure is."""
    density = draw(st.floats(0.5, 3.0))
    momenta = [draw(st.floats(-1.0, 1.0)) for _ in range(3)]
    return np.array([density, *momenta, 10.0 + draw(st.floats(0.0, 5.0))])


def change(cfd: ctypes.CDLL, flow: Flow, axis: int, line: list[Array]) -> Array:
    """Rate of change of the state in the middle of three."""
    motions = (Motion * 3)(*(cfd.flow_motion(pointer(state)) for state in line))
    found = np.zeros(5)
    cfd.flow_add_fluxes(ctypes.byref(flow), axis, *map(pointer, line), motions, pointer(found))
    return found


def derivative(cfd: ctypes.CDLL, flow: Flow, axis: int, line: list[Array], which: int) -> Array:
    """Of the change by one of the three states, by central differences."""
    columns = []
    for component in range(5):
        ends = []
        for sign in (1.0, -1.0):
            moved = [state.copy() for state in line]
            moved[which][component] += sign * 1e-5
            ends.append(change(cfd, flow, axis, moved))
        columns.append((ends[0] - ends[1]) / 2e-5)
    return np.array(columns).T


@given(axis=AXIS, line=st.lists(states(), min_size=3, max_size=3))
def test_blocks_are_the_derivatives_of_the_fluxes(
    cfd: ctypes.CDLL, axis: int, line: list[Array]
) -> None:
    flow = cfd.flow_make(POINTS, 0.01)
    for side in (-1, 1):
        block = np.zeros((5, 5))
        state = pointer(line[1 + side])
        cfd.flow_neighbour_block(ctypes.byref(flow), axis, side, state, pointer(block))
        expected = -flow.step * derivative(cfd, flow, axis, line, 1 + side)
        assert block == pytest.approx(expected, rel=1e-5, abs=1e-4)
    own = np.eye(5)
    cfd.flow_add_own_block(ctypes.byref(flow), axis, pointer(line[1]), pointer(own))
    expected = np.eye(5) - flow.step * derivative(cfd, flow, axis, line, 1)
    assert own == pytest.approx(expected, rel=1e-5, abs=1e-4)


@given(axis=AXIS, state=states())
def test_a_uniform_flow_does_not_change(cfd: ctypes.CDLL, axis: int, state: Array) -> None:
    flow = cfd.flow_make(POINTS, 0.01)
    assert change(cfd, flow, axis, [state] * 3) == pytest.approx(np.zeros(5), abs=1e-9)


@given(
    axis=AXIS,
    grid=st.lists(st.integers(0, POINTS - 1), min_size=3, max_size=3),
    end=st.sampled_from([0, POINTS - 1]),
)
def test_the_initial_state_is_exact_on_the_faces(
    cfd: ctypes.CDLL, axis: int, grid: list[int], end: int
) -> None:
    flow = cfd.flow_make(POINTS, 0.01)
    grid[axis] = end
    exact, initial = np.zeros(5), np.zeros(5)
    cfd.flow_exact(ctypes.byref(flow), (c_int * 3)(*grid), pointer(exact))
    cfd.flow_initial(ctypes.byref(flow), (c_int * 3)(*grid), pointer(initial))
    assert (exact == initial).all()


def damping(cfd: ctypes.CDLL, g: int) -> list[float]:
    flow = cfd.flow_make(POINTS, 0.01)
    weights = (c_double * 5)()
    cfd.flow_damping_weights(ctypes.byref(flow), g, weights)
    return list(weights)


@pytest.mark.parametrize("degree", range(5))
def test_damping_is_the_fourth_difference_inside(cfd: ctypes.CDLL, degree: int) -> None:
    places = np.arange(-2.0, 3.0)
    found = damping(cfd, POINTS // 2) @ places**degree
    assert found == (24.0 if degree == 4 else 0.0)


def test_damping_takes_no_part_of_the_faces(cfd: ctypes.CDLL) -> None:
    # Index 0 and 19 are on the faces.
    assert damping(cfd, 1) == [0, 0, 5, -4, 1]
    assert damping(cfd, 2) == [0, -4, 6, -4, 1]
    assert damping(cfd, 17) == [1, -4, 6, -4, 0]
    assert damping(cfd, 18) == [1, -4, 5, 0, 0]


@given(seed=st.integers(0, 2**32 - 1))
def test_block_systems(cfd: ctypes.CDLL, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, x = rng.random((5, 5)) + 5 * np.eye(5), rng.random((5, 5)), rng.random(5)
    solved_b, solved_x = np.linalg.solve(a, b), np.linalg.solve(a, x)
    cfd.block_solve(pointer(a), pointer(b), pointer(x))
    assert b == pytest.approx(solved_b)
    assert x == pytest.approx(solved_x)


@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(-2.0, 2.0))
def test_block_products(cfd: ctypes.CDLL, seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    a, b, c = rng.random((3, 5, 5))
    x, y = rng.random((2, 5))
    expected_c, expected_y = c - a @ b, y - factor * (a @ x)
    cfd.block_subtract_block_product(pointer(a), pointer(b), pointer(c))
    cfd.block_subtract_product(c_double(factor), pointer(a), pointer(x), pointer(y))
    assert c == pytest.approx(expected_c)
    assert y == pytest.approx(expected_y)
