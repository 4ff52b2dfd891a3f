"""Machines whose numbers come from measurements."""

from measuring.calibration.calibrated import Calibrated
from measuring.calibration.calibrating import calibrate, under
from measuring.calibration.log import Log
from measuring.calibration.transfer import apply, rescaled

__all__ = ["Calibrated", "Log", "apply", "calibrate", "rescaled", "under"]
