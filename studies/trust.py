"""How far simulated times may be trusted: real MPI libraries on emulated clusters decide."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

from measuring.agreement import errors, grouped, quantile
from measuring.calibration import Log as CalibrationLog
from measuring.calibration import apply, calibrate, rescaled, under
from measuring.clusters import Library
from measuring.trust.cases import (
    CALIBRATED_ON,
    MANY_BYTES,
    SCALE,
    Case,
    Plan,
    plan,
)
from measuring.trust.judge import Judgement, bars, gains, judge
from measuring.trust.laboratory import TrustLaboratory
from measuring.trust.log import Log, medians
from measuring.trust.measure import measure
from measuring.trust.simulate import simulate
from searchspace.machine import Machine, parse_machine
from studies.laboratory import Laboratory
from studies.study import Cell, Findings, Plot, Points, Study, Table
from workers.simulator_client import simulator_version

__all__ = ["TRUST"]

_CALIBRATED = "packets, calibrated"
_MODELS = ("fluid", "packets", _CALIBRATED)
_MINUTES = 6.0
"""Of one calibration."""
_WORST = 12
"""Cases that are shown."""


def _run(laboratory: Laboratory) -> Findings:
    chosen = plan(quick=laboratory.quick)
    directory = laboratory.directory / ("trust-quick" if laboratory.quick else "trust")
    bench = TrustLaboratory(directory, laboratory.say)
    libraries = sorted({case.library for case in chosen.cases})
    calibrated = {
        library: _calibrated(bench, library, directory, laboratory) for library in libraries
    }
    log = Log(directory / "measured.jsonl", _under(chosen, bench))
    measure(
        chosen,
        bench.cluster,
        bench.export,
        log,
        directory / "built",
        seed=laboratory.seed,
        say=laboratory.say,
    )
    measured = medians(log.rows)
    programs = sorted({case.choice for case in measured if case.is_program})
    traces = bench.programs(programs, calibrated["openmpi"].host_speed) if programs else {}
    judged = {}
    for model in _MODELS:
        laboratory.say(f"simulating {len(measured)} cases: {model}")
        simulated = simulate(
            list(measured),
            functools.partial(_machine, model, bench, calibrated),
            traces,
            directory / "collectives",
        )
        judged[model] = judge(measured, simulated)
    return _findings(chosen, log, judged, bench)


def _calibrated(
    bench: TrustLaboratory, library: Library, directory: Path, laboratory: Laboratory
) -> Machine:
    """The machine calibrated for a library, once."""
    path = directory / f"calibrated-{library}.json"
    if not path.exists():
        described = bench.machine(CALIBRATED_ON, SCALE)
        with bench.cluster(CALIBRATED_ON, SCALE) as cluster:
            said = under(cluster, described, library, laboratory.seed)
            log = CalibrationLog(directory / f"calibration-{library}.jsonl", said)
            found = calibrate(
                cluster,
                described,
                library,
                log,
                seed=laboratory.seed,
                minutes=_MINUTES,
                say=laboratory.say,
            )
        path.write_text(found.machine.canonical_json)
    return parse_machine(json.loads(path.read_text()))


def _machine(
    model: str, bench: TrustLaboratory, calibrated: Mapping[Library, Machine], case: Case
) -> Machine:
    """The machine of a case as a model has it."""
    described = bench.machine(case.network, case.scale)
    if model == _CALIBRATED:
        return apply(rescaled(calibrated[case.library], 1.0 / case.scale), described)
    return described.simulated_by("fluid") if model == "fluid" else described


def _under(chosen: Plan, bench: TrustLaboratory) -> dict[str, Any]:
    return {"repetitions": chosen.repetitions, "calls": MANY_BYTES, **bench.versions()}


def _findings(
    chosen: Plan, log: Log, judged: Mapping[str, Judgement], bench: TrustLaboratory
) -> Findings:
    best = judged[_CALIBRATED]
    doubtful = sum(1 for row in log.rows if row.doubts)
    missing = len(chosen.cases) - len(best.pairs)
    return Findings(
        (
            _bars(judged),
            _by(
                "operation", judged, lambda case: case.choice if case.is_program else case.operation
            ),
            _by("network", judged, lambda case: case.network),
            _by("library", judged, lambda case: case.library),
            _by("bytes", judged, lambda case: case.bytes),
            _programs(judged),
            _gains(best),
            _worst(judged),
        ),
        plots=tuple(_plot(model, judgement) for model, judgement in judged.items()),
        remarks=(
            f"{len(best.pairs)} cases, {len(best.regrets)} groups. {len(log.rows)} runs; "
            f"{doubtful} did not count and were made again; {missing} cases have no time that "
            "counts.",
            *_REMARKS,
        ),
        data=(("cases.json", _data(judged, bench)),),
    )


def _bars(judged: Mapping[str, Judgement]) -> Table:
    reached = {model: bars(judgement) for model, judgement in judged.items()}
    rows: list[tuple[Cell, ...]] = []
    for row in zip(*reached.values(), strict=True):
        met = row[list(judged).index(_CALIBRATED)].met
        rows.append((row[0].what, *(bar.found for bar in row), "met" if met else "MISSED"))
    columns = ("bar", *judged, "calibrated")
    return Table("What a model has to reach", columns, tuple(rows))


def _by(name: str, judged: Mapping[str, Judgement], of: Callable[[Case], Hashable]) -> Table:
    """Errors of cases that have something in common."""
    rows: list[tuple[Cell, ...]] = []
    pairs = {model: judgement.pairs for model, judgement in judged.items()}
    for group in grouped(pairs[_CALIBRATED], of):
        cases = list(group)
        cells: list[Cell] = [str(of(cases[0])), len(cases)]
        for found in pairs.values():
            off = errors(found[case] for case in cases)
            cells += [f"{quantile(off, 0.5):.1%}", f"{quantile(off, 0.9):.1%}"]
        rows.append(tuple(cells))
    columns = [name, "cases"]
    for model in judged:
        columns += [f"{model}: median", "90%"]
    rows.sort(key=lambda row: str(row[0]))
    return Table(f"Errors by {name}", tuple(columns), tuple(rows))


def _programs(judged: Mapping[str, Judgement]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for case, pair in sorted(judged[_CALIBRATED].pairs.items()):
        if case.is_program:
            ratios = (f"{judgement.pairs[case].ratio:.2f}" for judgement in judged.values())
            rows.append((case.choice, case.network, case.library, f"{pair.measured:.3f}", *ratios))
    columns = ("program", "network", "library", "measured, s", *judged)
    return Table("Programs: simulated over measured", columns, tuple(rows))


def _gains(judgement: Judgement) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for gain in gains(judgement):
        network, _, operation, size = gain.group
        rows.append(
            (operation, size, network, gain.chosen, f"{gain.measured:.2f}", f"{gain.simulated:.2f}")
        )
    return Table(
        "Gain of the algorithm chosen by simulation over the library's own choice",
        ("operation", "bytes", "network", "chosen", "measured", "simulated"),
        tuple(sorted(rows, key=str)),
    )


def _worst(judged: Mapping[str, Judgement]) -> Table:
    pairs = judged[_CALIBRATED].pairs
    worst = sorted(pairs, key=lambda case: -abs(math.log(pairs[case].ratio)))[:_WORST]
    rows: list[tuple[Cell, ...]] = []
    for case in worst:
        ratios = (f"{judgement.pairs[case].ratio:.2f}" for judgement in judged.values())
        what = (case.operation, case.choice, case.bytes, case.network, case.library)
        rows.append((*what, f"{pairs[case].measured:.4f}", *ratios))
    columns = ("operation", "algorithm", "bytes", "network", "library", "measured, s", *judged)
    return Table("Farthest off: simulated over measured", columns, tuple(rows))


def _plot(model: str, judgement: Judgement) -> Plot:
    by_operation: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for case, pair in judgement.pairs.items():
        by_operation[case.operation].append((pair.measured, pair.simulated))
    points = [
        Points(name, tuple(x for x, _ in found), tuple(y for _, y in found))
        for name, found in sorted(by_operation.items())
    ]
    every = [pair.measured for pair in judgement.pairs.values()]
    ends = (min(every), max(every))
    points.append(Points("equal", ends, ends, joined=True))
    name = model.replace(",", "").replace(" ", "-")
    return Plot(name, model, "measured, s", "simulated, s", tuple(points), logarithmic="xy")


def _data(judged: Mapping[str, Judgement], bench: TrustLaboratory) -> str:
    """Every case, with date and versions."""
    document = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {**bench.versions(), "simulator": simulator_version()},
        "unit": "s",
        "cases": [
            {
                **dataclasses.asdict(case),
                "measured": pair.measured,
                **{model: judgement.pairs[case].simulated for model, judgement in judged.items()},
            }
            for case, pair in sorted(judged[_CALIBRATED].pairs.items())
        ],
    }
    return json.dumps(document, indent=1) + "\n"


_REMARKS = (
    "Measured: real Open MPI and MPICH on emulated clusters ('hamtune testbed'), whose cables have "
    "a fiftieth of a gigabit; a two-hundredth where programs run or there are 64 hosts. Small "
    "collectives are called several times in a row.",
    "`fluid` and `packets` know the data sheet alone. `packets, calibrated` has numbers from "
    "'hamtune calibrate' on a ring of 16 hosts, which is none of the networks that are judged.",
    "The hosts of an emulated cluster share the processors of the machine that plays them; the "
    "calibrated machine knows that (`processors`), a real cluster has no such thing.",
    "A group is one collective of one size under one library on one network. Regret is the "
    "measured time of the algorithm that the model holds for the fastest over that of the fastest.",
    "The library's own choice is simulated by the algorithm of SMPI that is it, or that comes "
    "nearest to it where SMPI has none, which is where gains are off the most.",
)

TRUST = Study(
    "trust",
    "Hamtune, measured against simulated",
    "real MPI libraries on emulated clusters beside three models",
    _run,
    "an hour",
)
