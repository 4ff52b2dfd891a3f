"""Asks OpenTuner for configurations and tells it results; the coordinator that drives a job."""
