"""What stops a run, as opposed to a finding: findings are values, kept in the ledger, and never raised."""


class CannotRun(Exception):
    """The run cannot go on; the message says why and what to do, in one sentence."""


class UnusableDocument(CannotRun):
    """A manifest, rubric or dialect that cannot be used."""


class UnusableLedger(CannotRun):
    """A folder that is no ledger, is locked, or does not hold what was asked for."""
