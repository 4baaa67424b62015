"""Make an input that breaks a promise small, so that a person sees why."""

from collections.abc import Callable


def shrunk(data: bytes, breaks: Callable[[bytes], bool], attempts: int = 2000) -> bytes:
    """Leave out ever smaller pieces, and write `a` for what remains, as long as it still `breaks`."""
    size = len(data) // 2
    while size and attempts > 0:
        start = 0
        while start < len(data) and attempts > 0:
            attempts -= 1
            shorter = data[:start] + data[start + size :]
            if breaks(shorter):
                data = shorter
            else:
                start += size
        size //= 2
    for at in range(min(len(data), max(attempts, 0))):
        plainer = data[:at] + b"a" + data[at + 1 :]
        if data[at : at + 1] != b"a" and breaks(plainer):
            data = plainer
    return data
