"""Valid, eligible records to groups with exact sums.

`keys`, `artifact_names` and `eligibility` say what is grouped and what counts, `query` writes the SQL
over `parsed_lines`, `engines` run it, on `restated_scores` if an engine would not read scores exactly. `units`,
`groups` and `intervals` turn sums into numbers, `record_list` says which records these are made of, `neighbours` finds
rows that cannot be compared, `paired_cells` compares levels of a key, `recipes` has the scores of other boards with
their files, `summary` makes the table document.
"""
