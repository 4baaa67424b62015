"""Targets that read evaluated files: the text of PDFs."""

import time
import zlib

from normalizer.checks.artifact_text import NoText, Text, text_of
from tools.fuzz.target import Target

# Processor time that one small file may take. The limits of the reader are counts, and worth some seconds at most.
_MOST_SECONDS = 30.0


def pdf(data: bytes) -> None:
    """A PDF has a text, and again the same, or is refused in one way; it takes seconds at most."""
    if not data.startswith(b"%PDF-"):
        data = b"%PDF-1.4\n" + data
    started = time.process_time()
    first = _read(data)
    assert time.process_time() - started < _MOST_SECONDS, "a small file takes long"
    assert _read(data) == first
    if isinstance(first, Text):
        assert first.readings
        assert not any(character.isspace() for character in first.readings[0])


def _read(data: bytes) -> Text | str:
    try:
        return text_of(data, "x.pdf")
    except NoText as error:
        return str(error)


def document(*streams: bytes, extra: bytes = b"", page: bytes = b"") -> bytes:
    """Return a PDF with one page that draws the first stream; the others are forms, F1 and so on."""
    forms = b"".join(b"/F%d %d 0 R " % (number, 5 + number) for number in range(1, len(streams)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 5 0 R"
        b"/Resources<</Font<</A 4 0 R>>/XObject<<%s>>>>%s>>" % (forms, page),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica%s>>" % extra,
    ]
    for number, stream in enumerate(streams):
        kind = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</A 4 0 R>>/XObject<<%s>>>>" % forms
        head = b"<</Length %d%s%s>>" % (
            len(stream),
            kind if number else b"",
            b"/Filter/FlateDecode" if stream.startswith(b"x\x9c") else b"",
        )
        objects.append(head + b"stream\n" + stream + b"\nendstream")
    made = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(made))
    return made + head + table + end


_HELLO = b"BT /A 12 Tf 1 0 0 1 9 9 Tm (Hello) Tj [(wor) -250 (ld)] TJ T* <48> ' ET"
_WORDS = (
    *rb"""BT ET Tj TJ Tf Tm Td T* cm q Q ' " BI ID EI << >> [ ] ( ) \ obj endobj stream endstream -1""".split(),
    *b"/Filter/LZWDecode /Filter[/FlateDecode] /Filter/ASCII85Decode /Filter/RunLengthDecode xref".split(),
    *b"beginbfchar beginbfrange <0000><ffff><0000> /DecodeParms<</Predictor 1e9 %%EOF trailer".split(),
    *(b"/A 12 Tf", b"/F1 Do", b"/Kids[2 0 R]", b"/Parent 3 0 R", b"/Length 99999999", b"/Encrypt 1 0 R", b"/Prev 0"),
    *(b"/ToUnicode 5 0 R", b"/Type/ObjStm/N 3/First 9", b"/Type/XRef/W[1 2 1]", b"1 0 R", b"3 0 R", b"\r", b"\0"),
)
TARGETS = {
    "pdf": Target(
        pdf,
        (
            document(_HELLO),
            document(zlib.compress(_HELLO)),
            document(b"/F1 Do /F1 Do", b"/F2 Do", _HELLO),
            document(_HELLO, extra=b"/ToUnicode 5 0 R/Encoding/Identity-H"),
            document(b"/F1 Do", b"/F1 Do"),
        ),
        _WORDS,
        "a case in tests/normalizer/checks/test_artifact_text.py",
    )
}
