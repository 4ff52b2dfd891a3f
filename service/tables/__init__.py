"""The trials of a job as one table: columns for the page, and files for other programs."""
