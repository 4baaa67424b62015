"""A key is cut out of content in every usual spelling; content that still has it when decoded is refused."""

import base64
import gzip
import html
import json
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


@pytest.mark.parametrize("escaped", [KEY, KEY.replace("/", "\\/"), KEY.replace("/", "\\u002f")])
@pytest.mark.parametrize(
    "wrapped",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-16-be"),
        lambda text: text.encode("utf-32"),
        lambda text: gzip.compress(text.encode()),
        lambda text: gzip.compress(gzip.compress(text.encode("utf-16"))),
        lambda text: zlib.compress(text.encode()),
        lambda text: gzip.compress(text.encode())[:-9],
    ],
)
def test_a_key_in_wide_characters_or_compressed_is_refused(escaped, wrapped):
    """A JSON parser reads UTF-16 and UTF-32, and anybody unpacks a kept file."""
    with pytest.raises(KeyRepeated):
        KeyFilter(KEY).clean(wrapped(f'{{"a": "{escaped}"}}'))
    harmless = wrapped('{"a": "b"}')
    assert KeyFilter(KEY).clean(harmless) == harmless


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
