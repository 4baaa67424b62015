"""The operations, one module each. They use the disk only through the corpus, and the clock only through the meter."""
