"""A judge asked again: how much of the variance is its own noise, and how many items or repeats a study needs.

`components` splits the variance of repeated labels, `sample_size` has the power of a test, `designs` what the next
study needs with repeats, clusters and panels, `study_plan` reads the ledgers and puts the document together.
"""
