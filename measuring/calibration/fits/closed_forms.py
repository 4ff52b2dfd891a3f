"""First guesses of numbers, each from the experiments that show it alone."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from measuring.calibration.experiments import Experiment
from searchspace.protocol import Protocol

__all__ = ["bandwidth", "copy_bandwidth", "overhead", "send_buffer", "shortest_message"]

Times = Mapping[Experiment, float]

_ONE_PACKET = 1400
_LARGE = 4096
_FULL = 0.1
"""Part of the time of its bytes on a cable that a send has to take at least to show a buffer."""


def wire_factor(protocol: Protocol) -> float:
    """Bytes on a cable for each of a long message."""
    return (protocol.mtu + protocol.framing) / (protocol.mtu - protocol.header)


def bandwidth(times: Times, protocol: Protocol) -> float:
    """Bytes/s of a cable: the median slope of ping-pongs' times over their sizes (Theil-Sen)."""
    points = [
        (experiment.bytes, seconds / 2)
        for experiment, seconds in times.items()
        if experiment.kind == "ping-pong" and experiment.bytes >= _LARGE
    ]
    sizes, seconds = zip(*points, strict=True)
    slope = float(stats.theilslopes(seconds, sizes).slope)
    return wire_factor(protocol) / slope


def latency(times: Times) -> float:
    """Seconds of a hop: how ping-pongs of a byte grow with the hops, medians of slopes."""
    points = [
        (float(experiment.detail.split()[0]), seconds / 2)
        for experiment, seconds in times.items()
        if experiment.kind == "ping-pong"
        and experiment.bytes == 1
        and experiment.detail.endswith("hops")
    ]
    hops, seconds = zip(*points, strict=True)
    if len(set(hops)) == 1:
        return 0.0
    return max(0.0, float(stats.theilslopes(seconds, hops).slope))


def shortest_message(times: Times) -> float:
    """Seconds of a message of a byte, one way, between the pair that is quickest at it."""
    return min(
        (
            seconds / 2
            for experiment, seconds in times.items()
            if experiment.kind == "ping-pong" and experiment.bytes == 1
        ),
        default=0.0,
    )


def overhead(times: Times, kind: str, detail: str, count: int) -> tuple[float, float]:
    """Seconds of a processor for a message, and for each of its bytes.

    Args:
        times: Of experiments that make the same call again and again.
        kind: Of the experiment.
        detail: Of it.
        count: Calls of each.
    """
    points = [
        (experiment.bytes, seconds / count)
        for experiment, seconds in times.items()
        if experiment.kind == kind and experiment.detail.startswith(detail)
    ]
    if not points:
        return 0.0, 0.0
    sizes, seconds = map(np.array, zip(*points, strict=True))
    if len(points) == 1:
        return float(seconds[0]), 0.0
    fit = stats.theilslopes(seconds, sizes)
    slope = max(0.0, float(fit.slope))
    return max(0.0, float(np.median(seconds - slope * sizes))), slope


def send_buffer(times: Times, payload_rate: float) -> tuple[int, int | None]:
    """Bytes that the transport takes off a blocking send.

    Args:
        times: Of experiments of the kind `send returns` among others.
        payload_rate: Bytes/s of a message on a cable.

    Returns:
        How many at least, and at most; None for the latter where no send waited for the cable.
    """
    points = sorted(
        (experiment.bytes, seconds)
        for experiment, seconds in times.items()
        if experiment.kind == "send returns"
    )
    taken = [
        size - seconds * payload_rate
        for size, seconds in points
        if seconds > _FULL * size / payload_rate
    ]
    if not taken:
        return (points[-1][0] if points else 0), None
    middle = max(0, round(statistics.median(taken)))
    return middle, middle


def copy_bandwidth(times: Times, copies: int) -> float | None:
    """Bytes/s at which a host copies; None where that was not measured."""
    rates: Sequence[float] = [
        copies * experiment.bytes / seconds
        for experiment, seconds in times.items()
        if experiment.kind == "copy"
    ]
    return max(rates, default=None)
