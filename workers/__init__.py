"""Evaluates configurations in SimGrid and captures traces; Celery tasks around both."""
