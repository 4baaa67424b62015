"""The constants of ranked search. All of them are data: `rules/ranking.json`."""

from typing import Any

import contract_spec as spec

_DATA: dict[str, Any] = spec.resource("rules/ranking.json")

SATURATION: int = _DATA["saturation"]
LENGTH_SHARE: int = _DATA["length_share"]
USUAL_BYTES: int = _DATA["usual_bytes"]
IN_NAME: int = _DATA["in_name"]
IN_DIRECTORIES: int = _DATA["in_directories"]
WORDS_IN_PATH: int = _DATA["words_in_path"]
NAME_EQUALS: int = _DATA["name_equals"]
FILE_MENTIONED: int = _DATA["file_mentioned"]
COMPOUND: int = _DATA["compound"]
BACKQUOTED: int = _DATA["backquoted"]
FIRST_LINE: int = _DATA["first_line"]
REPEATED: int = _DATA["repeated"]
DEFINITION: dict[str, int] = _DATA["definition"]
DEFINITION_FILES: int = _DATA["definition_files"]
PASSAGE_LINES: int = _DATA["passage_lines"]
SHOWN_LINES: int = _DATA["shown_lines"]
MAX_RUN_BYTES: int = _DATA["max_run_bytes"]
MAX_DIGITS: int = _DATA["max_digits"]
KINDS: list[dict[str, Any]] = _DATA["kinds"]
HEADING_WORDS: int = _DATA["heading_words"]
ENVIRONMENT = frozenset(word.encode() for word in _DATA["environment"])
STOP_WORDS = frozenset(word.encode() for word in _DATA["stop_words"])
