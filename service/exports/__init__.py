"""Exports: what a user takes home from a job, one module a format."""
