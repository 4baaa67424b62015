"""Commands that print numbers: `aggregate`, `compare`, `agreement`, `preferences`, `calibrate`, `plan` and `gate`."""
