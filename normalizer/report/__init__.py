"""Documents become something to read: text, tables, pages. Nothing is computed here."""
