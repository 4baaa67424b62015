"""Everything that reads or writes trace events."""
