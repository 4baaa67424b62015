"""Commands that show what a ledger holds: `list`, `explain` and `restore`."""
