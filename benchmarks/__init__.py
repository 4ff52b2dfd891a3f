"""Side-by-side measurements; each prints what it measured and the command that repeats it."""
