"""The best configuration of a job, and how the job converged."""
