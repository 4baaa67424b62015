"""Readings of a file of judgements, proposed to people. Other commands use only one that is certain.

`rows` reads rows in the ways that a file may hold them, `nested` those below rows. `fields` has what stands in each
field, the words by which fields are called, how values are written, and which fields a reading leaves over. `weights`
says how much a field looks like a score, `roles` which name item, generator and judge. `scores`, `grids`, `duels`,
`verdict_texts` and `text_scores` propose `readings`. `shipped_fit` tries the dialects that come with the program.
`propose` runs these in order, `preview` shows what a reading would make of the file, and `certain` is the reading that
needs no choice.
"""
