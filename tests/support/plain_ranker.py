"""Ranked search once more, as plainly as can be: every file is read, every number is a fraction. No speed.

What `search` answers is compared with this. Only the constants are shared; the definitions of files are given.
"""

import re
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor, log2, sqrt
from typing import Any

import contract_spec as spec

RULES = spec.resource("rules/ranking.json")
STOP = set(RULES["stop_words"])
LETTERS = r"0-9A-Za-z_\u0080-\U0010ffff"


def runs(text: str) -> list[str]:
    return re.findall(f"[{LETTERS}]+", text)


def lower(text: str) -> str:
    """Only ASCII letters have another case."""
    return "".join(chr(ord(one) + 32) if "A" <= one <= "Z" else one for one in text)


def parts(run: str) -> list[str]:
    """Cut an identifier into runs of digits, of capitals, and of other letters with the capital before them."""
    found, at = [], 0
    while at < len(run):
        kind = kind_of(run[at])
        end = at
        while end < len(run) and kind_of(run[end]) == kind:
            end += 1
        if kind == "capital":
            follows = run[end] if end < len(run) else "_"
            if end == at + 1 and kind_of(follows) == "letter":
                while end < len(run) and kind_of(run[end]) == "letter":
                    end += 1
            elif "a" <= follows <= "z":
                end -= 1
        if kind != "line" and (kind != "digit" or end - at <= RULES["max_digits"]):
            found.append(lower(run[at:end]))
        at = end
    return found


def kind_of(one: str) -> str:
    if one == "_":
        return "line"
    if "0" <= one <= "9":
        return "digit"
    return "capital" if "A" <= one <= "Z" else "letter"


def stem(word: str) -> str:
    if len(word.encode()) < 4:
        return word
    for ending, left in (("ies", ""), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")):
        if word.endswith(ending):
            word = word[: -len(ending)] + left
            break
    else:
        if re.search("[^sui]s$", word):
            word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word.encode()) >= len(ending) + 3:
            word = word[: -len(ending)]
            if len(word.encode()) > 3 and re.search(r"([bdfgmnprt])\1$", word):
                word = word[:-1]
            break
    return word[:-1] if len(word.encode()) > 3 and word[-1] in "ey" else word


def stems(text: str) -> list[str]:
    return [stem(part) for run in runs(text) if len(run.encode()) <= RULES["max_run_bytes"] for part in parts(run)]


def floored(value: Fraction) -> int:
    return floor(value)


class PlainRanker:
    """Ranks the texts of files by path, each with the names that it defines and whether they are inner ones."""

    def __init__(self, texts: dict[str, str], definitions: dict[str, list[tuple[str, bool]]]) -> None:
        self.texts = {path: text for path, text in texts.items() if text}
        self.definitions = definitions

    def rank(self, query: str) -> tuple[list[tuple[str, float]], list[tuple[str, int]]]:
        """Return all files with a score, best first, and the terms with the number of files that have each."""
        query = self.sections(query)
        terms = self.terms(query)
        having = {word: [path for path in self.texts if self.has(path, word)] for word in terms}
        weights = {
            word: self.rarity(len(having[word])) * weight // 100 for word, (_, weight) in terms.items() if having[word]
        }
        scores = {path: self.score(path, weights, query) for path in self.texts}
        order = sorted((path for path in scores if scores[path]), key=lambda path: (-self.rounded(scores[path]), path))
        leading = order[: RULES["definition_files"]]
        defined = {path: [one for one in self.definitions.get(path, ()) if self.share(query, *one)] for path in leading}
        for path in leading:
            shares = [0]
            for name, is_inner in defined[path]:
                share = self.share(query, name, is_inner)
                definers = sum(name in [other for other, _ in defined[one]] for one in leading)
                shares.append(share // floor(sqrt(definers)) if len(self.lines(query)) > 1 else share)
            scores[path] = scores[path] * (100 + max(shares)) // 100
        order.sort(key=lambda path: (-self.rounded(scores[path]), path))
        counted = [(spelling, len(having[word])) for word, (spelling, _) in terms.items()]
        return [(path, self.rounded(scores[path]) / 10000) for path in order], counted

    def sections(self, query: str) -> str:
        """Cut a report before each heading, and leave out what is below those about its environment.

        Of a label with text behind it only that line."""
        lines = query.strip(" \t\n\r\v\f").split("\n")
        fences = [at for at, line in enumerate(lines) if re.match(r"[ \t\r\v\f]*```", line)]
        heads = [at for at, line in enumerate(lines) if re.match(r"[ \t\r\v\f]*(##|#[ \t\r\v\f]|\*\*)", line)]
        heads = [at for at in heads if at and sum(fence < at for fence in fences) % 2 == 0]
        about: dict[int, bool] = {}
        labels = []
        for at in heads:
            label = re.match(r"[ \t\r\v\f]*(\*\*[^*]+\*\*)[ \t\r\v\f:]*[^ \t\r\v\f:]", lines[at])
            words = [lower(run) for run in runs(label[1] if label else lines[at])]
            about[at] = len(words) <= RULES["heading_words"] and bool(set(words) & set(RULES["environment"]))
            labels += [at] if label and about[at] else []
        begins = [0, *(at for at in heads if at not in labels)]
        read = []
        for begin, end in pairwise([*begins, len(lines)]):
            if not about.get(begin):
                read += [lines[at] for at in range(begin, end) if at not in labels]
        return "\n".join(read)

    def rounded(self, score: int) -> int:
        return floored(Fraction(score, 10) + Fraction(1, 2))

    def spoken(self, query: str) -> list[str]:
        return [run for run in runs(query) if lower(run) not in STOP]

    def words(self, query: str) -> list[str]:
        spoken = self.spoken(query)
        return [part for run in spoken for part in parts(run) if len(part.encode()) > 1 or len(spoken) == 1]

    def terms(self, query: str) -> dict[str, tuple[str, int]]:
        quoted = {run for part in re.findall("`([^`\n]+)`", query) for run in runs(part)}
        spoken = self.spoken(query)
        found: dict[str, tuple[str, int]] = {}
        for run in spoken:
            weight = RULES["compound"] if len(parts(run)) > 1 else 100
            weight = weight * RULES["backquoted"] // 100 if run in quoted else weight
            for part in parts(run):
                if len(part.encode()) > 1 or len(spoken) == 1:
                    spelling, before = found.get(stem(part), (part, 0))
                    found[stem(part)] = spelling, max(weight, before)
        lines = self.lines(query)
        title = {stem(part) for run in runs(lines[0]) for part in parts(run)} if len(lines) > 1 else set()
        said = list(map(stem, self.words(query)))
        for word, (spelling, weight) in found.items():
            weight = weight * RULES["first_line"] // 100 if word in title else weight
            doublings = floor(log2(said.count(word)))
            found[word] = spelling, weight * (100 + RULES["repeated"] * doublings) // 100
        return found

    def lines(self, query: str) -> list[str]:
        return query.strip(" \t\n\r\v\f").split("\n")

    def has(self, path: str, word: str) -> bool:
        return word in stems(self.texts[path]) or word in self.in_path(path)

    def in_path(self, path: str) -> set[str]:
        *directories, name = path.split("/")
        return {word for step in (*directories, self.bare(name)) for word in stems(step)}

    def joined(self, path: str) -> str:
        return "".join(stems(self.bare(path.split("/")[-1])))

    def bare(self, name: str) -> str:
        base, dot, _ = name.rpartition(".")
        return base if dot and base else name

    def rarity(self, having: int) -> int:
        ratio = Decimal(2 * len(self.texts) + 2) / Decimal(2 * having + 1)
        return round(ratio.ln(Context(prec=40)) * 1000)

    def score(self, path: str, weights: dict[str, int], query: str) -> int:
        text, found = self.texts[path], stems(self.texts[path])
        *directories, name = path.split("/")
        own, above = stems(self.bare(name)), [word for step in directories for word in stems(step)]
        score = 0
        for word, weight in weights.items():
            score += weight * self.strength(found.count(word), len(text.encode()))
            score += weight * (RULES["in_name"] * (word in own) + RULES["in_directories"] * (word in above))
        if not weights:
            return 0
        in_path = sum(word in own or word in above for word in weights)
        share = Fraction(100 * len(weights) + RULES["words_in_path"] * in_path, 100 * len(weights))
        score = floored(score * Fraction(self.factor(path), 100) * share)
        words = list(map(stem, self.words(query)))
        named = {*words, *(first + second for first, second in pairwise(words))}
        if in_path and "".join(own) in named:
            alike = [
                one for one in self.texts if self.joined(one) == "".join(own) and self.in_path(one) & weights.keys()
            ]
            score = score * (100 + RULES["name_equals"] // len(alike)) // 100
        ends = {"/".join(lower(path).split("/")[-count:]) for count in (1, 2)}
        if "/" not in path:
            ends.add("/" + lower(path))
        if ends & self.files(query):
            score = score * (100 + RULES["file_mentioned"]) // 100
        return score

    def strength(self, times: int, size: int) -> int:
        usual, share = RULES["usual_bytes"], RULES["length_share"]
        slack = floored(Fraction(RULES["saturation"] * ((100 - share) * usual + share * size), 100 * usual))
        return floored(Fraction((RULES["saturation"] + 100) * 100 * times, 100 * times + slack))

    def factor(self, path: str) -> int:
        *directories, name = path.split("/")
        base, dot, extension = name.rpartition(".")
        bare = base if dot and base else name
        factors = [100]
        for kind in RULES["kinds"]:
            if (
                set(directories) & set(kind["directories"])
                or (dot and extension in kind["extensions"])
                or bare in kind["names"]
                or any(bare.startswith(one) for one in kind["begins"])
                or any(bare.endswith(one) for one in kind["ends"])
            ):
                factors.append(kind["factor"])
        return min(factors)

    def files(self, query: str) -> set[str]:
        pattern = rf"[{LETTERS}./-]*[{LETTERS}-]\.[A-Za-z][0-9A-Za-z]{{0,7}}(?![{LETTERS}])"
        found = [lower(name).split("/") for name in re.findall(pattern, query)]
        return {"/".join([step for step in steps if step not in ("", ".", "..")][-2:]) for steps in found}

    def share(self, query: str, name: str, is_inner: bool) -> int:
        amounts: dict[str, Any] = RULES["definition"]
        last = runs(name)[-1] if runs(name) else ""
        spoken, words = self.spoken(query), self.words(query)
        if not last:
            return 0
        if {last} == set(spoken):
            return int(amounts["only_inner" if is_inner else "only"])
        if last in spoken and len(parts(last)) > 1:
            return int(amounts["compound"])
        if lower(last).replace("_", "") in {first + second for first, second in pairwise(words)}:
            return int(amounts["joined"])
        if len(last.encode()) > 2 and lower(last) in map(lower, spoken):
            return int(amounts["word_inner" if is_inner else "word"])
        return 0
