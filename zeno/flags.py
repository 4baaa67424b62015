"""Numbers that flags take: what no server could work with is refused with a sentence, before anything runs."""

from argparse import ArgumentTypeError


def positive(text: str) -> int:
    """A whole number above 0: a limit of nothing, or less, would refuse everything."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def port(text: str) -> int:
    """A port to listen on."""
    if not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is no port; give a number from 0 to 65535")
    return int(text)
