"""`zeno doctor`: check the installation and the system, and report problems."""

import argparse

from zeno.cli.install import checks
from zeno.cli.printing import paint, print_json, safe, say


def doctor(options: argparse.Namespace) -> int:
    """Print every fact. Return 1 if one of them is a problem."""
    facts = [*checks.versions(), *checks.names(), *checks.extras(), *checks.system()]
    problems = sum(fact.level == "problem" for fact in facts)
    if options.format == "json":
        print_json({"problems": problems, "facts": [fact._asdict() for fact in facts]})
    else:
        for fact in facts:
            say(f"{paint(fact.level, f'{fact.level:<8}')} {fact.topic:<9} {safe(fact.message)}")
        say(f"{problems} problem{'' if problems == 1 else 's'} found")
    return 1 if problems else 0
