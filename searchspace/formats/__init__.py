"""Readers and writers of the files that Hamtune exchanges: traces."""
