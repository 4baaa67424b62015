"""A key is cut out of content in every usual spelling; content that still has it when decoded is refused, and so is
content that is no text."""

import base64
import bz2
import gzip
import html
import json
import lzma
import zlib
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.judge.calling.key_filter import HIDDEN, KeyFilter, KeyRepeated

KEY = "sk-ab/cd+Ef=gh~ij?7Q9zXw_tail"
AWKWARD = "sk-a/b+c&d"
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60)


@given(key=st.text(alphabet="ab/+&-%\\\"'<", min_size=4, max_size=12), around=st.text(alphabet="xyz ", max_size=5))
def test_a_key_as_it_is_escaped_or_encoded_is_cut_out(key, around):
    keys = KeyFilter(key)
    entities = "".join(f"&#{ord(char)};" for char in key)
    for spelled in (key, json.dumps(key)[1:-1], quote(key, safe=""), quote(quote(key, safe=""), safe=""), entities):
        data = (around + spelled + around).encode()
        assert len(spelled.encode()) <= keys.margin
        try:
            assert key.encode() not in keys.clean(data)
        except KeyRepeated:
            # Refused is as good: nothing of it is kept.
            continue


def test_the_rest_of_the_content_stays():
    assert KeyFilter(AWKWARD).clean(f'{{"a": "{AWKWARD}", "b": 1}}'.encode()) == f'{{"a": "{HIDDEN}", "b": 1}}'.encode()
    assert KeyFilter("").clean(b"anything") == b"anything"


def test_a_spelling_that_cannot_be_cut_out_but_decodes_to_the_key_is_refused():
    hidden = json.dumps({"a": html.escape(AWKWARD)}).encode()
    with pytest.raises(KeyRepeated):
        KeyFilter(AWKWARD).clean(hidden)
    assert KeyFilter(AWKWARD).text(hidden.decode()) == f"(a message that repeats the key: {HIDDEN})"


ESCAPED = pytest.mark.parametrize("escaped", [KEY, KEY.replace("/", "\\/"), KEY.replace("/", "\\u002f")])


@ESCAPED
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-le"])
def test_a_key_in_wide_characters_is_refused(escaped, encoding):
    """A JSON parser reads UTF-16 and UTF-32."""
    with pytest.raises(KeyRepeated):
        KeyFilter(KEY).clean(f'{{"a": "{escaped}"}}'.encode(encoding))
    harmless = '{"a": "b"}'.encode(encoding)
    assert KeyFilter(KEY).clean(harmless) == harmless


@pytest.mark.parametrize("text", [KEY, "harmless"])
@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        zlib.compress,
        bz2.compress,
        lzma.compress,
        lambda data: zlib.compress(data, wbits=-15),
        lambda data: b"before " + gzip.compress(data),
        lambda data: gzip.compress(data)[:-9],
        lambda data: data + b"\xff",
    ],
)
def test_content_that_is_no_text_is_refused_whatever_it_holds(pack, text):
    """Anybody unpacks a kept file, and nobody can say by which program."""
    packed = pack(text.encode() * 3)
    with pytest.raises(KeyRepeated):
        KeyFilter(KEY).clean(packed)
    assert KeyFilter("").clean(packed) == packed


@pytest.mark.parametrize(
    "spelled",
    [
        base64.encodebytes(b"before the key, a line of some length: " + KEY.encode()).decode(),
        json.dumps(base64.encodebytes(b"before the key, a line of some length: " + KEY.encode()).decode()),
        "".join(f"\\u{ord(char):04x}" for char in base64.b64encode(KEY.encode()).decode()),
        KEY.encode().hex(" "),
        KEY.encode().hex(":").upper(),
        ", ".join(f"0x{byte:02x}" for byte in KEY.encode()),
        "".join(f"\\x{byte:02x}" for byte in KEY.encode()),
        "".join(f"\\u{{{byte:x}}}" for byte in KEY.encode()),
        "".join(f"&amp;#{byte};" for byte in KEY.encode()),
        "".join(f"&#{byte}" for byte in KEY.encode()),
        "".join(f"&#37;{byte:02x}" for byte in KEY.encode()),
        quote("".join(f"&#x{byte:x};" for byte in KEY.encode())),
        KEY.replace("/", "&sol;").replace("_", "&lowbar;"),
        json.dumps("\0".join(KEY)),
        "\u200b".join(KEY),
        "\n".join(KEY),
    ],
)
@pytest.mark.parametrize("around", ["{}", "&#{digits};{}", '[{digits}, "{}"]', "{}\ud800"], ids=range(4))
def test_a_key_that_only_decoding_shows_is_refused(spelled, around):
    """Around it stands what decoders of Python refuse: numbers of thousands of digits, half a character."""
    data = around.replace("{digits}", "9" * 5000).replace("{}", spelled).encode("utf-8", "surrogatepass")
    with pytest.raises(KeyRepeated):
        KeyFilter(KEY).clean(data)


@pytest.mark.parametrize("unit", ["\\", "%25", "%", "&#0", "&", "sk-", "s\\", "\0", "\\u00", "\\n", "[", " "])
def test_content_made_to_be_slow_takes_time_by_its_length(unit):
    """A megabyte takes seconds, or hours if every character were tried against every other."""
    data = (unit * (1_000_000 // len(unit))).encode()
    assert KeyFilter(KEY).clean(data) == data
    assert KeyFilter(AWKWARD + "\\\\u").clean(data) == data


@given(
    times=st.integers(0, 4),
    spell=st.sampled_from([str, lambda key: key.replace("/", "\\/"), lambda key: quote(key, safe="")]),
    before=st.integers(0, 40),
    limit=st.integers(0, 250),
)
def test_a_key_across_a_limit_leaves_no_part_of_it(times, spell, before, limit):
    """Keys that were cut out before it make the content shorter, but never move the limit."""
    keys = KeyFilter(KEY)
    data = (spell(KEY) * times + "." * before + spell(KEY) * 9).encode()
    cleaned = keys.clean(data[: limit + keys.margin], limit)
    assert set(cleaned.replace(HIDDEN.encode(), b"")) <= {ord(".")}
    assert data[:before] != b"." * before or cleaned[:before] == b"." * min(before, limit)


@pytest.mark.parametrize("kept", range(6, len(KEY)))
def test_a_part_of_a_key_spelled_beyond_all_bounds_is_refused_at_a_limit(kept):
    spelled = ["\\" * 400 + f"u{byte:04x}" for byte in KEY.encode()]
    limit = sum(map(len, spelled[:kept]))
    keys = KeyFilter(KEY)
    with pytest.raises(KeyRepeated):
        keys.clean("".join(spelled).encode()[: limit + keys.margin // 100], limit)


@pytest.mark.parametrize(
    "spelled",
    [
        KEY.encode().hex(" "),
        ", ".join(f"0x{byte:02x}" for byte in KEY.encode()),
        "".join(f"\\x{byte:02x}" for byte in KEY.encode()),
        "".join(f"&amp;#{byte};" for byte in KEY.encode()),
        "".join(f"\\u{ord(char):04x}" for char in KEY.encode().hex()),
        "".join(f"\\u{ord(char):04x}" for char in base64.b64encode(KEY.encode()).decode()),
        "\n".join(base64.b64encode(KEY.encode()).decode()),
    ],
)
def test_a_key_that_only_decoding_shows_is_refused_across_a_limit_too(spelled):
    keys = KeyFilter(KEY)
    data = f"before {spelled}{' after' * 200}".encode()
    for limit in range(len("before ") + 1, len("before ") + len(spelled)):
        with pytest.raises(KeyRepeated):
            keys.clean(data[: limit + keys.margin], limit)


def test_a_character_that_a_limit_cuts_is_no_reason_to_refuse():
    data = "ab\N{EURO SIGN}cd\N{EURO SIGN}".encode()
    assert KeyFilter(KEY).clean(data, 4) == data[:4]
    assert KeyFilter(KEY).clean(data[:-1], 4) == data[:4]


def test_a_short_key_is_not_put_together_from_ordinary_words():
    assert KeyFilter("tion").clean(b"quit ion, quit\\nion") == b"quit ion, quit\\nion"


@given(key=KEYS, before=st.binary(max_size=5), after=st.binary(max_size=5), urlsafe=st.booleans())
def test_a_key_in_base64_is_cut_out_wherever_it_begins(key, before, after, urlsafe):
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    encoded = encode(before + key.encode() + after)
    cleaned = KeyFilter(key).clean(b"x " + encoded + b" y")
    assert HIDDEN.encode() in cleaned
    # Characters that hold bits of what stands before or after the key may stay: two bits of the key at each end.
    assert len(cleaned) - len(HIDDEN) - 4 <= len(encoded) - (len(key) * 8 // 6 - 1)


@pytest.mark.parametrize(
    "spelled",
    [
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
        base64.b64encode(KEY.encode()).decode().replace("/", "\\/"),
        quote(base64.b64encode(KEY.encode()).decode(), safe="+="),
        KEY.replace("/", "\\/"),
        quote(KEY, safe=""),
    ],
)
def test_a_spelled_key_leaves_no_part_of_itself(spelled):
    cleaned = KeyFilter(KEY).clean(f'{{"a": "{spelled}"}}'.encode())
    assert len(cleaned) <= len(f'{{"a": "{HIDDEN}"}}') + 4


def test_ordinary_content_is_not_changed():
    for key in ("a-key-of-some-length", "zq-31-kw"):
        data = base64.b64encode(bytes(range(256)) * 20) + b"ordinary text, 0123456789abcdef"
        assert KeyFilter(key).clean(data) == data
