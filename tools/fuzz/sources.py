"""The target that reads source code: any text in any language has facts that fit it."""

from tests.zeno.code.test_extract import PIECES_OF_CODE, SAMPLES, require_sound_facts
from tools.fuzz.target import Target
from zeno.text.file_lines import normal

_FILES = sorted(SAMPLES)


def source(data: bytes) -> None:
    """The first byte chooses the language, the rest is the text. Grammars are C code: a crash ends the process."""
    if data:
        require_sound_facts(_FILES[data[0] % len(_FILES)], normal(data[1:]))


TARGETS = {
    "source": Target(
        source,
        tuple(bytes([index]) + SAMPLES[name].encode() for index, name in enumerate(_FILES)),
        tuple(piece.encode() for piece in PIECES_OF_CODE),
        "a test in tests/zeno/code/test_extract.py",
    )
}
