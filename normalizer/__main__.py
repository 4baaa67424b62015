"""`python -m normalizer`."""

import sys

from zeno_normalizer import normalizer

if __name__ == "__main__":
    sys.exit(normalizer())
