"""What is known of configurations before they are simulated."""

from __future__ import annotations

from searchspace.insight.experience import Comparable, Experience, Tried, experience_of
from searchspace.insight.features import Features
from searchspace.insight.insight import Insight
from searchspace.insight.known import Known, Probes
from searchspace.insight.probe_trace import write_probe_trace
from searchspace.insight.structures import Structures

__all__ = [
    "Comparable",
    "Experience",
    "Features",
    "Insight",
    "Known",
    "Probes",
    "Structures",
    "Tried",
    "experience_of",
    "write_probe_trace",
]
