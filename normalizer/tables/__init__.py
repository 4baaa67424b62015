"""Result documents as text, CSV, Markdown and LaTeX.

`formats` writes any table and `pretty` indented JSON. `summary_table`, `contrast_table`, `sensitivity_tables`,
`agreement_table`, `preferences_table`, `calibration_table`, `plan_table`, `gate_table`, `check_table`, `audit_table`,
`claims_table` and `evidence_table` turn one kind of document each into rows and columns.
"""
