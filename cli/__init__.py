"""The hamtune command."""
