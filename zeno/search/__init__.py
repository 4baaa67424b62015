"""How files and lines are found. Operations ask a `Corpus`; whether it is warm or cold, the answer is the same."""
