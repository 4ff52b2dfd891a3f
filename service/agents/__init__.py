"""What agents on clusters ask for: runs of finalists, told as data; and what they tell of them."""
