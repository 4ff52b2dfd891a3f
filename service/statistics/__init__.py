"""What all trials of a job come to, however many there are."""
