"""Deleted jobs, which can be restored for a while."""
