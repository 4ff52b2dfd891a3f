"""The service on real servers: trials a second, workers side by side, many clients, long jobs."""
