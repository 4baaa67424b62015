"""Text of evaluated files: a small file cannot take minutes."""

import zlib

import pytest

from normalizer.checks import artifact_text
from normalizer.checks.artifact_text import NoText, text_of


def pdf(content: bytes, forms: int = 0, pages: int = 1) -> bytes:
    """A PDF of pages with that content stream, and with forms `/X0`, `/X1` that each draw the next one ten times."""
    streams = [content, *(b"/X%d Do " % (number + 1) * 10 for number in range(forms))]
    names = b" ".join(b"/X%d %d 0 R" % (number, number + 5) for number in range(forms))
    font = b"/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    resources = b"<< " + font + b" /XObject << " + names + b" >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b"3 0 R " * pages, pages),
    ]
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources "
    objects.append(page + resources + b" >>")
    for number, stream in enumerate(streams):
        data = zlib.compress(stream, 9)
        kind = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources " + resources if number else b""
        about = b"<< /Length %d /Filter /FlateDecode %s >>" % (len(data), kind)
        objects.append(about + b" stream\n" + data + b"\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj " % number + item + b" endobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start, size = len(out), len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    return out + head + table + b"trailer << /Root 1 0 R /Size %d >>\nstartxref\n%d\n%%%%EOF" % (size, start)


def test_an_ordinary_page_is_read():
    assert "hello" in text_of(pdf(b"BT /F 9 Tf (hello) Tj ET"), "a.pdf").exact


def test_a_page_of_millions_of_operators_is_refused_before_it_is_parsed():
    data = pdf(b"q Q " * 4_000_000)
    assert len(data) < 40_000
    with pytest.raises(NoText, match="numbers and operators"):
        text_of(data, "a.pdf")


DIGITS = b"1 " * 20_000


@pytest.mark.parametrize(("content", "forms"), [(DIGITS, 0), (b"(a) Tj /X0 Do /X0 Do " + DIGITS[:30_000], 1)])
@pytest.mark.parametrize("bound", ["_MOST_BYTES", "_MOST_WORDS"])
def test_numbers_and_bytes_are_bounded_over_all_pages_and_forms(monkeypatch, bound, content, forms):
    """Thousands of pages may show one stream, and a page may draw a form thousands of times."""
    monkeypatch.setattr(artifact_text, bound, 2 * len(content) if bound == "_MOST_BYTES" else len(content))
    text_of(pdf(content, forms, pages=1), "a.pdf")
    with pytest.raises(NoText, match="more than"):
        text_of(pdf(content, forms, pages=3), "a.pdf")


@pytest.mark.parametrize(("content", "forms"), [(b"BT /F 1 Tf " + b"(a) Tj " * 3000 + b"ET", 0), (b"/X0 Do ", 6)])
def test_drawing_operations_are_bounded_those_of_forms_included(monkeypatch, content, forms):
    monkeypatch.setattr(artifact_text, "_MOST_STEPS", 1000)
    with pytest.raises(NoText, match="drawing operations"):
        text_of(pdf(content, forms), "a.pdf")
