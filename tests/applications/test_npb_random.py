"""The generator is x' = a x mod 2^46, exactly."""

from __future__ import annotations

import ctypes
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.capture import APPLICATIONS

MODULUS = 2**46
MULTIPLIER = 5**13
SEED = 314159265


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    target = tmp_path_factory.mktemp("library") / "npb_random.so"
    source = APPLICATIONS / "common/npb_random.c"
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", str(source), "-o", str(target)], check=True)
    loaded = ctypes.CDLL(str(target))
    loaded.npb_random.restype = ctypes.c_double
    loaded.npb_random.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64]
    for function in (loaded.npb_power, loaded.npb_skip):
        function.restype = ctypes.c_uint64
        function.argtypes = [ctypes.c_uint64] * (2 if function is loaded.npb_power else 1)
    return loaded


@given(state=st.integers(0, MODULUS - 1), multiplier=st.integers(0, MODULUS - 1))
def test_one_number(library: ctypes.CDLL, state: int, multiplier: int) -> None:
    holder = ctypes.c_uint64(state)
    number = library.npb_random(ctypes.byref(holder), multiplier)
    assert holder.value == state * multiplier % MODULUS
    assert number == holder.value / MODULUS


@given(multiplier=st.integers(0, MODULUS - 1), exponent=st.integers(0, 2**64 - 1))
def test_powers(library: ctypes.CDLL, multiplier: int, exponent: int) -> None:
    assert library.npb_power(multiplier, exponent) == pow(multiplier, exponent, MODULUS)


@given(count=st.integers(0, 300))
def test_skipping_is_drawing(library: ctypes.CDLL, count: int) -> None:
    holder = ctypes.c_uint64(SEED)
    for _ in range(count):
        library.npb_random(ctypes.byref(holder), MULTIPLIER)
    assert library.npb_skip(count) == holder.value
