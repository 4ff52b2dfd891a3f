"""Scripts of users that propose configurations, or measure them."""
