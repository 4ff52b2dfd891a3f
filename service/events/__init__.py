"""The events of a job, stored and as they happen."""
