"""How several jobs converged, in short."""
