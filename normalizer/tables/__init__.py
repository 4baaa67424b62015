"""Result documents as text, CSV, Markdown and LaTeX.

`formats` writes any table, and indented JSON. `summary_table`, `contrast_table`, `agreement_table`,
`preferences_table`, `calibration_table`, `plan_table`, `gate_table`, `check_table` and `audit_table` turn one kind of
document each into rows and columns.
"""
