"""`python -m normalizer`."""

from normalizer.cli import run

if __name__ == "__main__":
    run()
