"""Simulated times beside measured ones: tables, errors, order, regret, and the bars."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.emulated.cases import PROGRAMS, Case
from benchmarks.emulated.metrics import Pair, errors, grouped, quantile, regret, tau
from benchmarks.emulated.simulate import (
    Emulated,
    captured,
    simulated_collective,
    simulated_program,
)
from workers.simulator_client import simulator_version

__all__ = ["DATA", "compare", "hop_latency"]

DATA = Path(__file__).parent / "data"
LARGE = 16 << 10
"""From this size on the network decides, not the cores that play sixteen hosts."""
MOST_MEDIAN, MOST_NINETIETH, LEAST_TAU = 0.08, 0.30, 0.92
MOST_REGRET, MOST_MISSES = 1.10, 1
"""Groups with small messages may miss it, so many of them; those with large ones may not."""
MOST_PROGRAM_ERROR, MOST_PROGRAM_MEDIAN = 0.20, 0.10


class Bars:
    """Prints bars as MET or MISSED, and remembers."""

    def __init__(self) -> None:
        self.missed = 0

    def show(self, what: str, value: str, met: bool) -> None:
        """Print one."""
        self.missed += not met
        print(f"  {what:46} {value:>12}  {'MET' if met else 'MISSED'}")


def hop_latency(measurements: Mapping[str, Any]) -> float:
    """Half the round trip of one byte over one cable, nothing else on it.

    Of measurements that have none, that of the first set.
    """
    if "pingpong" not in measurements:
        measurements = json.loads((DATA / "first.json").read_text())
    return next(
        float(row["seconds"])
        for row in measurements["pingpong"]
        if (row["hops"], row["bytes"]) == (1, 1)
    )


def compare(files: Sequence[Path], network_model: str, protocol: str, latency: float | None) -> int:
    """Print the comparison of each file; gives how many bars were missed.

    Args:
        files: Measurements.
        network_model: `fluid` or `packets`.
        protocol: A named one, or fields over one as JSON; of `packets`.
        latency: Seconds of a cable; None for those measured by one byte over one cable.
    """
    bars = Bars()
    given = json.loads(protocol) if protocol.startswith("{") else protocol
    for file in files:
        measurements = json.loads(file.read_text())
        per_cable = hop_latency(measurements) if latency is None else latency
        origin, link = measurements["origin"], measurements["link"]
        print(
            f"{measurements['set']}: {origin['mpi']}, {link['rate'] / 1e6:g} Mbit/s, "
            f"{link['congestion_control']}, kernel {origin['kernel']}, {origin['date']}; "
            f"simulated by {simulator_version()}: {network_model}, {per_cable * 1e6:.1f} us a cable"
        )
        emulated = Emulated(measurements, network_model, per_cable, given)
        if "cases" in measurements:
            _collectives(measurements["cases"], emulated, bars)
        if "programs" in measurements:
            _programs(measurements["programs"], emulated, bars)
    return bars.missed


def _collectives(rows: Sequence[Mapping[str, Any]], emulated: Emulated, bars: Bars) -> None:
    measured = {
        Case(row["network"], row["collective"], row["bytes"], row["algorithm"]): row["seconds"]
        for row in rows
    }
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        times = list(pool.map(lambda case: simulated_collective(emulated, case), measured))
    pairs = {
        case: Pair(seconds, simulated)
        for (case, seconds), simulated in zip(measured.items(), times, strict=True)
    }
    _table(pairs)
    _by_algorithm(pairs)
    _accuracy(pairs, bars)
    _choices(pairs, bars)


def _table(pairs: Mapping[Case, Pair]) -> None:
    print(
        "network    collective    bytes algorithm              measured  simulated  ratio  regret"
    )
    for group in grouped(pairs, lambda case: case.group):
        for index, (case, pair) in enumerate(group.items()):
            last = f"  {regret(group.values()):6.2f}" if index == len(group) - 1 else ""
            print(
                f"{case.network:10} {case.collective:10} {case.bytes:8} {case.algorithm:20} "
                f"{pair.measured:10.5f} {pair.simulated:10.5f} {pair.ratio:6.2f}{last}"
            )


def _by_algorithm(pairs: Mapping[Case, Pair]) -> None:
    print("simulated over measured, over the networks:")
    for group in grouped(pairs, lambda case: (*case.choice, case.algorithm)):
        case = next(iter(group))
        ratios = [pair.ratio for pair in group.values()]
        print(
            f"  {case.collective:10} {case.bytes:8} {case.algorithm:20} "
            f"{min(ratios):5.2f} to {max(ratios):5.2f}"
        )


def _accuracy(pairs: Mapping[Case, Pair], bars: Bars) -> None:
    off = errors(pairs.values())
    print(f"{len(pairs)} cases")
    median, ninetieth = quantile(off, 0.5), quantile(off, 0.9)
    bars.show("median error", f"{median:.1%}", median <= MOST_MEDIAN)
    bars.show("90th percentile", f"{ninetieth:.1%}", ninetieth <= MOST_NINETIETH)
    order = tau([pairs.values()])
    bars.show("Kendall's tau over all cases", f"{order:.3f}", order >= LEAST_TAU)
    keys: dict[str, Callable[[Case], Hashable]] = {
        "within groups": lambda case: case.group,
        "same collective and size": lambda case: case.choice,
        "same algorithm too, between networks": lambda case: (*case.choice, case.algorithm),
    }
    for name, key in keys.items():
        groups = grouped(pairs, key)
        if len(groups) < len(pairs):
            print(f"  tau, {name}: {tau([group.values() for group in groups]):.3f}")


def _choices(pairs: Mapping[Case, Pair], bars: Bars) -> None:
    groups = grouped(pairs, lambda case: case.group)
    regrets = [(next(iter(group)), regret(group.values())) for group in groups]
    for case, lost in sorted(regrets, key=lambda one: -one[1]):
        if lost > 1.0:
            print(f"  regret {lost:.3f}: {case.network} {case.collective} {case.bytes}")
    over = sum(lost > 1.05 for _, lost in regrets)
    print(f"  groups over 1.05: {over} of {len(regrets)}, worst {max(r for _, r in regrets):.2f}")
    for name, some, allowed in (
        ("all groups", regrets, MOST_MISSES),
        ("groups of 16 KiB and more", [r for r in regrets if r[0].bytes >= LARGE], 0),
    ):
        good = sum(lost <= MOST_REGRET for _, lost in some)
        what = f"{name} with regret <= {MOST_REGRET:.2f}"
        bars.show(what, f"{good} of {len(some)}", good >= len(some) - allowed)


def _programs(rows: Sequence[Mapping[str, Any]], emulated: Emulated, bars: Bars) -> None:
    pairs: dict[tuple[str, str], Pair] = {}
    print("network    program      measured  simulated  ratio   cores alone   Gflop/s of a host")
    with captured([name for name in PROGRAMS if any(r["program"] == name for r in rows)]) as traces:
        for row, (simulated, speed) in zip(rows, _simulated(rows, emulated, traces), strict=True):
            pair = Pair(row["seconds"], simulated)
            pairs[row["network"], row["program"]] = pair
            floor = row["floor"] / pair.measured
            print(
                f"{row['network']:10} {row['program']:10} {pair.measured:10.5f} "
                f"{pair.simulated:10.5f} {pair.ratio:6.2f} {floor:12.0%} {speed / 1e9:14.2f}"
            )
    off = errors(pairs.values())
    median = quantile(off, 0.5)
    bars.show("median error", f"{median:.1%}", median <= MOST_PROGRAM_MEDIAN)
    good = sum(error <= MOST_PROGRAM_ERROR for error in off)
    what = f"programs within {MOST_PROGRAM_ERROR:.0%}"
    bars.show(what, f"{good} of {len(off)}", good == len(off))


def _simulated(
    rows: Sequence[Mapping[str, Any]], emulated: Emulated, traces: Mapping[str, Path]
) -> Iterator[tuple[float, float]]:
    """Seconds of each program, and the speed of hosts that compute as long as was measured."""
    for row in rows:
        yield simulated_program(emulated, row["network"], traces[row["program"]], row["elapsed"])
