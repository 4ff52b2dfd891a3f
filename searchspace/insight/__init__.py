"""What is known of configurations before they are simulated."""

from __future__ import annotations

from searchspace.insight.features import Features
from searchspace.insight.insight import Insight
from searchspace.insight.known import Known, Probes
from searchspace.insight.probe_trace import write_probe_trace
from searchspace.insight.structures import Structures

__all__ = ["Features", "Insight", "Known", "Probes", "Structures", "write_probe_trace"]
