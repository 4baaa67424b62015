"""Commands before and around calls to judges: `lint` and `judge`."""
