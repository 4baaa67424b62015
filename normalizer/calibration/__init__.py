"""Judges against gold: how far the labels of models agree with those of people or references.

`labels` reads both from the ledgers, `preference_labels` those of comparisons, `identity` says which version and prompt
of a judge they are of. `measures` compares two columns of values, `ceiling` annotators and judges with the other
annotators, `choice` finds the judge or panel that comes closest, `alternative_annotator` tests whether a judge may take
the place of a person, `prediction_powered` estimates gold means from few labels and many judgements, `pass_rate`
corrects pass rates for a judge's errors, `judge_accuracy` puts the document together.
"""
