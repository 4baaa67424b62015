"""list_files: which files are there."""

from contract_models.zeno.ops.list_files import ListFilesArgs, ListFilesResult
from pydantic import MISSING

from zeno.globs import matcher
from zeno.meter import Meter
from zeno.patterns import searcher
from zeno.search.corpus import Corpus


def list_files(args: ListFilesArgs, corpus: Corpus, meter: Meter) -> ListFilesResult:
    """The candidates that match the glob, or else the regular expression, or else all."""
    regex = searcher(args.regex, "args.regex") if args.regex is not MISSING else None
    globs = matcher([args.glob], "args.glob") if args.glob is not MISSING else None
    paths, cut = corpus.candidates(args)
    meter.files_scanned += len(paths)
    matching: list[str] = paths
    if globs is not None:
        matching = globs.of(paths)
    elif regex is not None:
        matching = [path for path in paths if regex(path.encode())]
    limits = [name for name, bit in (("max", len(matching) > args.max), ("max_files", cut)) if bit]
    return ListFilesResult(
        files=matching[: args.max],
        truncated=bool(limits),
        truncated_by=limits or MISSING,
        metrics=meter.stop(),
    )
