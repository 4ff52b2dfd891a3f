"""The format `json`: everything that says what the best configuration is, in one document."""

from __future__ import annotations

import json
from typing import Any

from searchspace.machine import NetworkDescription
from searchspace.workload import split
from service.exports.result import ExportFile, Result
from tuner.convergence import speedup

__all__ = ["document", "export_json"]


def export_json(result: Result) -> list[ExportFile]:
    """The document as `result.json`."""
    text = json.dumps(document(result), indent=2, allow_nan=False) + "\n"
    return [ExportFile(name="result.json", content=text.encode())]


def document(result: Result) -> dict[str, Any]:
    """The best configuration, the network and options it resolves to, and what it was won with."""
    baselines = {trial.label or f"trial {trial.number}": trial.value for trial in result.baselines}
    best_baseline = min((value for value in baselines.values() if value is not None), default=None)
    return {
        "job": {
            "id": result.job.id,
            "name": result.job.name,
            "state": result.job.state,
            "seed": result.job.seed,
            "spec": result.job.spec,
        },
        "trial": result.trial.number,
        "value": result.value,
        "unit": "simulated seconds" if result.simulated else "measured seconds",
        "model": result.model,
        "comparisons": [
            {"trial": decided.number, "value": decided.value, "fluid": repeated.value}
            for decided, repeated in result.compared
            if repeated.state == "completed"
        ],
        "baseline": best_baseline,
        "speedup": speedup(best_baseline, result.value),
        "baselines": baselines,
        "configuration": result.configuration.to_dict(),
        "configuration_sha256": result.configuration.sha256,
        "machine": result.machine.canonical(),
        "network": {
            "nodes": result.machine.nodes,
            **NetworkDescription.of(result.resolved.network, result.names[: result.resolved.hosts]),
            "order": list(result.resolved.order),
            "tie_rule": result.machine.tie_rule,
        },
        "rank_hosts": list(result.resolved.rank_hosts),
        **_of_each(result),
        "options": dict(result.resolved.options),
        "application": {
            "name": result.application.name,
            "kind": result.application.kind,
            "ranks": result.application.ranks,
            "trace_sha256": result.application.trace_sha256,
            "summary": result.application.summary,
        },
        "versions": result.versions,
    }


def _of_each(result: Result) -> dict[str, Any]:
    """Where several applications run at once: the hosts and the finish time of each."""
    if result.application.kind != "workload":
        return {}
    finish_times = (result.trial.result or {}).get("finish_times", {})
    parts = result.application.summary["applications"]
    hosts_of_each = split(result.resolved.rank_hosts, [part["ranks"] for part in parts])
    return {
        "applications": [
            {**part, "rank_hosts": list(hosts), "finish_time": finish_times.get(part["name"])}
            for part, hosts in zip(parts, hosts_of_each, strict=True)
        ]
    }
