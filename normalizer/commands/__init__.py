"""The subcommands, one module each, in a folder for each heading of the help.

`read`, `judge`, `look`, `trust`, `numbers` and `publish` are the headings, `shell` has what no list shows; `options`
and `unknown_levels` have what commands share.
"""
