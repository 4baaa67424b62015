"""Estimate a run without making it: calls, bytes, and tokens roughly."""

from normalizer.judge.prepare import PreparedInput

_BYTES_A_TOKEN = 4


def estimate(made: list[PreparedInput], waiting: list[int], attempts: int, used: int) -> list[str]:
    """Lines for people. `waiting` are the files still to be asked about, `used` the attempts already spent on them."""
    asked = [made[index] for index in waiting]
    most = len(waiting) * attempts - used
    lines = [f"files: {len(made)}, {len(made) - len(asked)} of them without a call to make"]
    lines.append(
        f"calls: {len(asked)}" + (f", at most {most} with {attempts} attempts a file" if most > len(asked) else "")
    )
    if asked:
        sizes = [one.size for one in asked]
        texts = [one.size for one in asked if one.text]
        lines.append(f"input: {sum(sizes)} bytes in all, from {min(sizes)} to {max(sizes)} a call")
        told = f"about {sum(texts) // _BYTES_A_TOKEN} for {len(texts)} texts, at {_BYTES_A_TOKEN} bytes each"
        pdfs = len(asked) - len(texts)
        lines.append(f"input tokens: {told}" + (f"; {pdfs} PDFs count as the judge counts them" if pdfs else ""))
    return lines
