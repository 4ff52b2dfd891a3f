"""What a network, its load and the ranks on it look like."""
