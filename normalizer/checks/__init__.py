"""Findings that change no score. A check reads a ledger or a document and returns findings; it never writes.

`audit` counts a ledger and `reverify` normalizes its bundles again, reading `joined_files`. `lint` and `schema_lint`
are about documents before a run, `claims` about numbers that judges state. `evidence` looks up quotations in
the texts that `artifact_text` reads. `instruments` lists what judged the records, and `attestation`
states that a table follows from them. `published_tables` and `study` are rooms of their own.
"""
