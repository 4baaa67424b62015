"""Settings are read as written."""

from lantern.settings import load


def test_seconds():
    assert load("session = 90s").session_seconds == 90


def test_minutes():
    assert load("session = 15m").session_seconds == 900


def test_comments_are_left_out():
    assert load("# nothing\nlanguage = de # German").language == "de"
