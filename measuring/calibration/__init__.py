"""Machines whose numbers come from measurements."""

from measuring.calibration.transfer import apply

__all__ = ["apply"]
