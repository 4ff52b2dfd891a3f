"""Programs that nobody here wrote, or one for each feature of MPI: captured, replayed, compared."""
