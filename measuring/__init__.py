"""What real MPI libraries take: running them on clusters, calibrating machines, judging models."""
