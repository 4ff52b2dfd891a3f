"""What exports gained on the clusters of those who installed them."""
