"""From measured times to the numbers of a machine: one module for each that shows by itself."""
