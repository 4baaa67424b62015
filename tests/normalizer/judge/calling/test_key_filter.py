"""A key is cut out of content in every usual spelling; content that still has it when decoded is refused."""

import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.judge.calling.key_filter import HIDDEN, KeyFilter, KeyRepeated

KEY = "sk-a/b+c&d"


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
    assert KeyFilter(KEY).clean(f'{{"a": "{KEY}", "b": 1}}'.encode()) == f'{{"a": "{HIDDEN}", "b": 1}}'.encode()
    assert KeyFilter("").clean(b"anything") == b"anything"


def test_a_spelling_that_cannot_be_cut_out_but_decodes_to_the_key_is_refused():
    hidden = json.dumps({"a": html.escape(KEY)}).encode()
    with pytest.raises(KeyRepeated):
        KeyFilter(KEY).clean(hidden)
    assert KeyFilter(KEY).text(hidden.decode()) == f"(a message that repeats the key: {HIDDEN})"


def test_an_encoding_of_its_own_is_not_noticed():
    disguised = base64.b64encode(KEY.encode())
    assert KeyFilter(KEY).clean(disguised) == disguised
