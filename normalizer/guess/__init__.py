"""Readings of a file of judgements, proposed to people. Other commands use only one that is certain.

`rows` reads rows in the ways that a file may hold them, `nested` those below rows. `profile` collects what stands in
each field, `names` knows words by which fields are called. `scores`, `duels` and `verdict_texts` propose `readings`,
`values` says how a value is written, `roles` which fields name item, generator and judge. `shipped_fit` tries the
dialects that come with the program. `propose` runs these in order, `preview` shows what a reading would make of the
file, and `certain` is the reading that needs no choice.
"""
