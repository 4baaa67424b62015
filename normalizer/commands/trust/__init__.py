"""Commands that check, repair and sign ledgers: `audit`, `repair` and `sign`."""
