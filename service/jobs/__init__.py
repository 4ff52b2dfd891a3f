"""Jobs: creation, life, results."""
