"""What operators need: checks, metrics, traces."""
