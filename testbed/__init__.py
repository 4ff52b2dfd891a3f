"""Machines as emulated clusters: network namespaces as hosts, shaped cables, the model's routes."""
