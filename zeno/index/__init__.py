r"""The search index: it rules out text that cannot match. RE2 decides about the rest.

`signatures` computes bits for each piece of text, `piece_index` keeps them. `regex_reader` parses a pattern,
`requirements` says which bits a piece must have to hold a match, and where a scan of the text can begin.

One pattern on its way through these modules. The reader turns it into parts, each a set of bytes that must come next,
or a gap of unknown content. `\s*` may match nothing, so it is a gap; `(get|set)` is a gap that demands one of two:

>>> from zeno.index.regex_reader import expression
>>> from zeno.index.requirements import gram
>>> read = expression(r"^\s*def (get|set)_\w+\(", case_sensitive=True)

Parts without a gap between them make runs: here `def ` and, inside the group, `get` or `set`. Each three bytes of a run
are one row of the index. A piece of text may hold a match if it has all rows of the demand, and one of the two groups
of rows inside it. Runs of five bytes and more also ask for the rows of each five bytes:

>>> read.demand.rows == tuple(sorted([gram(b"def"), gram(b"ef ")]))
True
>>> [inner.any_of for inner in read.demand.inner]
[True]
>>> [choice.rows for choice in read.demand.inner[0].inner] == [(gram(b"get"),), (gram(b"set"),)]
True

The pieces that are left are scanned. Every matching line holds `def `, and `get` or `set`; which of these literals is
the rarest is counted in a sample of the text. The scan may also look for the rest of the pattern from a literal on,
which RE2 finds nearly as fast as the literal itself:

>>> [sorted(needles) for needles in read.needles]
[[b'def '], [b'get', b'set']]
>>> [(tail.literal, tail.pattern) for tail in read.tails]
[(b'def ', 'def\\ (get|set)_\\w+\\(')]

Where no literal helps, the scan is the whole pattern, in which `^` and `$` are the ends of lines:

>>> read.lines
'^\\s*def (get|set)_\\w+\\('

Each line that a scan finds is given to RE2 with the pattern as it was sent.
"""
