"""Fronts of jobs: which configurations no other one beats in both time and price."""
