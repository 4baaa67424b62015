"""Commands that make ledgers of files: `normalize`, `guess` and `dialects`."""
