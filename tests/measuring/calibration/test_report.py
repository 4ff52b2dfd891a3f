"""The page of a calibration: complete by itself, and safe whatever a cluster calls itself."""

from __future__ import annotations

import pytest

from measuring.calibration import patterns
from measuring.calibration.calibrated import Calibrated, Compared
from measuring.calibration.report import page
from searchspace.machine import parse_machine

COMPARED = [
    Compared(patterns.ping_pong(0, 1, 1, "1 hops"), 1e-4, 9e-5, 1.2e-4, 1.1e-4),
    Compared(patterns.ping_pong(0, 1, 4096, "1 hops"), 2e-3, 2e-3, 2.1e-3, 2e-3),
    Compared(patterns.gaps(0, 1, 1, blocking=True), 1e-4, 9e-5, 2e-4, 3e-4),
]
MACHINE = parse_machine(
    {
        "nodes": 2,
        "host_speed": "1Gf",
        "link_bandwidth": "20Mbps",
        "network": "packets",
        "protocol": {
            name: [[0, 1e-5, 0.0]]
            for name in ("send_overhead", "isend_overhead", "receive_overhead")
        },
        "topology": {"edges": [[0, 1]]},
        "calibration": {
            "date": "2026-11-20",
            "software": {"mpi": "<script>Open MPI 4.1.4</script>"},
            "points": 2,
            "median": 0.05,
            "error": 0.1,
            "residuals": {"ping-pong": {"points": 2, "median": 0.05, "error": 0.1}},
            "intervals": {"link_bandwidth": [2.4e6, 2.6e6]},
        },
    }
)
FOUND = Calibrated(MACHINE, COMPARED, ["cables have the latency of <this> host"])


def test_the_page_shows_numbers_residuals_and_plots_and_loads_nothing() -> None:
    text = page(FOUND)
    assert "2.4e+06 to 2.6e+06" in text
    assert "5.0% (median) and 10.0% (90th percentile) over 2 experiments" in text
    assert text.count("<svg") == 3  # one of differences, and one for each kind
    assert "<script" not in text
    assert "of &lt;this&gt; host" in text
    assert "src=" not in text
    assert text == page(FOUND)  # the same findings give the same page


def test_what_is_not_explained_is_of_the_time_of_whole_messages() -> None:
    # 10 us of 2.1 ms; the gap between sends is no message that anybody waits for.
    assert FOUND.unexplained == pytest.approx(1e-5 / 2.1e-3)
