"""Search techniques side by side on tables of whole spaces (`python -m benchmarks.search`)."""
