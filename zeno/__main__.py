"""`python -m zeno` runs the `zeno` command."""

import sys

from zeno_normalizer import zeno

if __name__ == "__main__":
    sys.exit(zeno())
