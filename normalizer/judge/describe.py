"""The judge that flags describe: as a run records it, and ready to be called."""

from typing import Any

from normalizer.errors import CannotRun
from normalizer.judge.calling.calls import Judge
from normalizer.judge.prepare import PreparedInput


def describe_judge(options: dict[str, Any]) -> dict[str, Any]:
    """Return the judge as the run records it. Raises CannotRun where flags do not go together."""
    if (options["program"] is None) == (options["endpoint"] is None):
        raise CannotRun("give a judge: either --command or --endpoint with --model")
    model = {} if options["model"] is None else {"model": options["model"]}
    if options["program"] is not None:
        if options["parameters"] is not None:
            raise CannotRun("--parameters goes with --endpoint")
        return {"kind": "command", "command": options["program"], **model}
    if not model:
        raise CannotRun("--endpoint needs --model")
    from normalizer.judge.calling.endpoint import address, parameters_of, redact_url

    parameters = parameters_of(options["parameters"])
    return {
        "kind": "endpoint",
        "endpoint": redact_url(address(options["endpoint"])),
        **model,
        "parameters": parameters,
    }


def make_judge(options: dict[str, Any]) -> Judge:
    """Return the judge, ready to be called."""
    if options["program"] is not None:
        from normalizer.judge.calling.command import CommandJudge

        withheld = None if options["pass_key"] else options["key_env"]
        return CommandJudge(
            options["program"], timeout=options["timeout"], max_reply=options["max_reply"], withheld=withheld
        )
    from normalizer.judge.calling.endpoint import EndpointJudge, Tries, address, parameters_of

    return EndpointJudge(
        address(options["endpoint"]),
        options["model"],
        parameters_of(options["parameters"]),
        Tries(options["timeout"], options["retries"], options["back_off"]),
        max_reply=options["max_reply"],
        jobs=options["jobs"],
        key_env=options["key_env"],
    )


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
