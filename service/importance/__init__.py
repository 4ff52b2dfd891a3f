"""How much each parameter of a job matters."""
