"""Collectives and programs under real Open MPI on an emulated cluster, beside simulated times."""
