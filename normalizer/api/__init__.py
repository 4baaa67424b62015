"""The Python API: `normalizer.open(ledger)` and `normalizer.read(files or rows)`, which return `Ledgers`.

`ledgers` has their records, `numbers` the documents that commands print with `--format json`, as the models that are
generated from their schemas; `reading` normalizes files and rows, `sources` those that a command is
given in place of ledgers, and `datasheet` writes the page about judges.
Every method opens its ledgers, checks their records, and closes them. Needs the extra `report` for numbers and
`export` for frames.
"""

from normalizer.api.ledgers import Ledgers, open_ledgers

__all__ = ["Ledgers", "open_ledgers"]
