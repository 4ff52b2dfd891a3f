"""Many cases measured on emulated clusters, and how well each model foretells them."""
