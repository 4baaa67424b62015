"""What a search can rule out without reading text.

`signatures` are bits per piece of text. `regex_reader` parses a pattern, `regex_characters` its character classes,
and `requirements` says which bits a piece must have to hold a match. RE2 always decides; the index only narrows.
"""
