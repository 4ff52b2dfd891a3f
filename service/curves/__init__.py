"""Short courses of several jobs at once."""
