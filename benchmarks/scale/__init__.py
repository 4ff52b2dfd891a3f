"""What jobs of thousands of ranks cost, from networks of 16,384 hosts to the page."""
