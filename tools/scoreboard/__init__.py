"""How good ranked search is, beside other tools, on public questions and bug reports.

`tasks` reads the sets, `checkout` writes the tree of a commit, `contestants` asks each tool and compares its files
with the right ones, and `run` writes a record for each query, from which normalizer makes the table and checks it.
"""
