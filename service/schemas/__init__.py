"""JSON schemas of the documents that people write."""
