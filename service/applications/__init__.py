"""Applications: traces, uploaded or captured."""
