"""list_files: which files are there."""

from contract_models.zeno.ops.list_files import ListFilesArgs, ListFilesResult
from pydantic import MISSING

from zeno.globs import matcher
from zeno.meter import Meter
from zeno.patterns import searcher
from zeno.search.corpus import Corpus


def list_files(args: ListFilesArgs, corpus: Corpus, meter: Meter) -> ListFilesResult:
    """The candidates that match the glob, or else the regular expression, or else all."""
    wanted = None
    if args.regex is not MISSING:
        search = searcher(args.regex, "args.regex")
        wanted = lambda path: search(path.encode())  # noqa: E731 - the two ways to choose stand side by side
    if args.glob is not MISSING:
        wanted = matcher([args.glob], "args.glob")
    paths, cut = corpus.candidates(args)
    meter.files_scanned += len(paths)
    matching = [path for path in paths if wanted(path)] if wanted else paths
    limits = [name for name, bit in (("max", len(matching) > args.max), ("max_files", cut)) if bit]
    return ListFilesResult(
        files=matching[: args.max],
        truncated=bool(limits),
        truncated_by=limits or MISSING,
        metrics=meter.stop(),
    )
