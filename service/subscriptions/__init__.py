"""Who is told of jobs, by webhook or e-mail, and how."""
