"""The page: its source, in TypeScript, and the files that are built of it."""
