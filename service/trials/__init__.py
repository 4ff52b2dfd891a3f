"""The trials of a job."""
