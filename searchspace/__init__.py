"""The domain: search spaces, configurations, machines, networks, mappings; pure functions."""
