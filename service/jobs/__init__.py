"""Jobs: creation and life."""
