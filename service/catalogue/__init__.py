"""What job files may choose from."""
