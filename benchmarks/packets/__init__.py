"""What the packets model costs, beside the fluid one and the bars that it has to meet."""
