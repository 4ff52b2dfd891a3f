import pytest
from hypothesis import given
from hypothesis import strategies as st

from measuring.calibration import patterns
from measuring.calibration.fits import closed_forms
from measuring.calibration.patterns import IN_A_ROW
from searchspace.protocol import PROTOCOLS

TCP = PROTOCOLS["tcp-openmpi"]


@given(st.floats(1e5, 1e10), st.floats(0, 1e-3))
def test_the_rate_of_a_cable_is_that_of_whole_packets(rate: float, latency: float) -> None:
    times = {
        patterns.ping_pong(0, 1, size, "1 hops"): 2
        * (latency + size * closed_forms.wire_factor(TCP) / rate)
        for size in (1, 4096, 8192, 65536, 1 << 20)
    }
    assert closed_forms.bandwidth(times, TCP) == pytest.approx(rate, rel=1e-6)


def test_an_outlier_moves_the_rate_little() -> None:
    times = {
        patterns.ping_pong(0, 1, size, "1 hops"): 2 * size / 1e6
        for size in (4096, 8192, 16384, 32768, 65536)
    }
    disturbed = patterns.ping_pong(0, 1, 16384, "1 hops")
    times[disturbed] *= 3
    found = closed_forms.bandwidth(times, TCP) / closed_forms.wire_factor(TCP)
    assert found == pytest.approx(1e6, rel=0.01)


def test_the_latency_of_a_hop_is_what_more_hops_add() -> None:
    times = {patterns.ping_pong(0, n, 1, f"{n} hops"): 2 * (5e-5 + n * 1e-5) for n in (1, 2, 4)}
    assert closed_forms.latency(times) == pytest.approx(1e-5)
    assert closed_forms.latency({patterns.ping_pong(0, 1, 1, "1 hops"): 1e-4}) == 0.0


def test_sends_in_a_row_show_what_one_costs_the_processor() -> None:
    times = {
        patterns.gaps(0, 1, size, blocking=True): IN_A_ROW * (8e-6 + 1e-9 * size)
        for size in (1, 1024, 8192)
    }
    seconds, per_byte = closed_forms.overhead(times, "gap", "send", IN_A_ROW)
    assert seconds == pytest.approx(8e-6)
    assert per_byte == pytest.approx(1e-9)


def test_a_send_that_waits_for_the_cable_shows_what_the_transport_took() -> None:
    sizes = (1 << 17, 1 << 20, 1 << 21, 1 << 22)
    times = {
        patterns.send_return(0, 1, size): max(1e-4, (size - 1_000_000) / 1e6) for size in sizes
    }
    least, most = closed_forms.send_buffer(times, 1e6)
    assert least == most == pytest.approx(1_000_000, rel=0.01)
    quick = {patterns.send_return(0, 1, size): 1e-4 for size in sizes}
    assert closed_forms.send_buffer(quick, 1e6) == (1 << 22, None)
