"""Rows of a second file are found by one key; a file in which that is not possible is refused."""

from typing import Any

import pytest

from normalizer.containers.conversions import MISSING, Scope
from normalizer.containers.mapping import Joined
from normalizer.documents.lossless import Number
from normalizer.errors import UnusableDocument

DECLARED = {"container": {"kind": "jsonl"}, "key": {"at": "/id"}, "by": {"at": "/question"}}


def partner(joined: Joined, row: dict[str, Any]) -> tuple[Any, str]:
    return joined.partner(Scope(row, MISSING, None, MISSING, ""))


def test_a_row_is_found_by_the_text_of_its_key():
    joined = Joined(DECLARED, '{"id": 1, "t": "one"}\n{"id": "2", "t": "two"}\n')
    assert partner(joined, {"question": "1"})[0]["t"] == "one"
    assert partner(joined, {"question": Number("2")})[0]["t"] == "two"
    assert partner(joined, {"question": "3"}) == (MISSING, "3")
    assert partner(joined, {}) == (MISSING, "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"id": 1}\n{"id": "1"}\n', "two rows of the joined file have the key 1, the second at line 2"),
        ('{"id": 1}\n{}\n', "line 2 of the joined file has no key"),
        ('{"id": 1}\n{\n', "line 2 of the joined file cannot be read"),
    ],
)
def test_a_file_whose_keys_do_not_name_one_row_each_is_refused(text, sentence):
    with pytest.raises(UnusableDocument, match=sentence):
        Joined(DECLARED, text)
