"""Side-by-side benchmarks that print ratios; `python -m tools.bench.run --help`."""
