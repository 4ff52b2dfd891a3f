"""Job files to start from, and the demonstration behind `make demo`."""
