"""Take a name as it is written in a source apart: the containers that it names, and the name itself."""

from zeno.code.languages import Grammar


def split_name(written: str, grammar: Grammar) -> tuple[str, str]:
    """Return the containers, joined by dots, and the name without marks: `a.b` and `f` of `a::b::f` in C++."""
    *containers, name = without_arguments(written).split(grammar.separator) if grammar.separator else [written]
    if grammar.end:
        name = name.partition(grammar.end)[0]
    for mark in grammar.strip:
        name = name.removeprefix(mark).removesuffix(mark)
    return ".".join(part.strip() for part in containers if part.strip()), name.strip()


def without_arguments(name: str) -> str:
    """Return a qualified name without template arguments: `A` of `A<B<C>>`. Operators keep their characters."""
    if name.startswith("<"):
        return name  # an operator of Ruby
    head, operator, tail = name.partition("operator")
    if operator and tail[:1].isidentifier():
        head, operator, tail = name, "", ""
    kept, depth = [], 0
    for character in head:
        depth += character == "<"
        if not depth:
            kept.append(character)
        depth -= character == ">" and depth > 0
    if operator and tail[:1].isspace():
        tail = tail.split("(")[0].rstrip()
    return "".join(kept) + operator + tail
