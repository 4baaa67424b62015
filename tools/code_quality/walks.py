"""Go through a syntax tree node by node: what it defines, and which words stand in comments, strings, imports, calls.

This shares the grammars with `zeno.code`, and nothing else: no query, no rule, no way of finding containers.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from zeno.code.languages import grammar_of

WORD = re.compile(rb"(?<![0-9A-Za-z_])[A-Za-z_][A-Za-z0-9_]*")

# Nodes that define something. Those with an exclamation mark only if they have a body.
DEFINING = {
    "c": "function_definition struct_specifier! union_specifier! enum_specifier!",
    "cpp": "function_definition class_specifier! struct_specifier! union_specifier! enum_specifier! "
    "namespace_definition",
    "csharp": "namespace_declaration class_declaration record_declaration struct_declaration interface_declaration "
    "enum_declaration delegate_declaration method_declaration constructor_declaration local_function_statement",
    "go": "function_declaration method_declaration type_spec type_alias method_elem",
    "java": "class_declaration record_declaration interface_declaration annotation_type_declaration enum_declaration "
    "method_declaration constructor_declaration compact_constructor_declaration annotation_type_element_declaration",
    "javascript": "class_declaration class function_declaration generator_function_declaration method_definition",
    "kotlin": "class_declaration object_declaration companion_object function_declaration type_alias",
    "php": "class_declaration interface_declaration trait_declaration enum_declaration method_declaration "
    "function_definition",
    "ruby": "class module method singleton_method",
    "rust": "function_item function_signature_item struct_item enum_item union_item trait_item type_item "
    "associated_type mod_item macro_definition impl_item",
    "scala": "class_definition object_definition trait_definition enum_definition type_definition package_object "
    "function_definition function_declaration",
    "shell": "function_definition",
    "swift": "class_declaration protocol_declaration function_declaration protocol_function_declaration "
    "init_declaration typealias_declaration associatedtype_declaration",
    "typescript": "class_declaration class abstract_class_declaration function_declaration function_signature "
    "generator_function_declaration method_definition method_signature abstract_method_signature interface_declaration "
    "type_alias_declaration enum_declaration internal_module",
}
# Nodes whose words are imports, if the name of the node does not say it, and those that only look so.
IMPORTS = {
    "c": "preproc_include",
    "cpp": "preproc_include using_declaration",
    "csharp": "using_directive extern_alias_directive",
    "php": "namespace_use_declaration include_expression include_once_expression require_expression "
    "require_once_expression",
    "rust": "use_declaration extern_crate_declaration",
}
CALLS = "call call_expression method_invocation invocation_expression command new_expression macro_invocation "
CALLS += "object_creation_expression instance_expression function_call_expression member_call_expression "
CALLS += "scoped_call_expression nullsafe_member_call_expression constructor_expression constructor_invocation"
# The child of a call that has the name of what is called.
CALLED = ("function", "name", "method", "constructor", "type", "macro", "constructed_type")
ARGUMENTS = "arguments argument_list value_arguments type_arguments annotated_lambda call_suffix type_argument_list "
ARGUMENTS += "template_argument_list"
STRINGS = re.compile(
    r"^(?!concatenated).*string|char(acter)?_literal|heredoc_body|nowdoc_body|regex(_literal)?$|template_string|jsx_text"
)
CODE = re.compile(r"^interpolat(ion|ed_expression)$|template_substitution|expansion|command_substitution|variable_name")
# Commands that are imports.
IMPORTING = {"ruby": (b"autoload", b"require", b"require_relative"), "shell": (b"source", b".")}
SEPARATOR = re.compile(r"::|(?<!operator)[.\\]")
NAMES = re.compile(r"identifier|^name$|^word$|^constant$")


class Defined(NamedTuple):
    """A definition by a referee. `end` is 0 and `container` None where it cannot tell."""

    name: str
    line: int
    end: int
    container: str | None


def parse(path: str, text: bytes) -> Any:
    """Return the root of the syntax tree; None for a file without grammar."""
    from tree_sitter import Language, Parser

    grammar = grammar_of(path)
    if grammar is None:
        return None
    module = import_module(grammar.package.replace("-", "_"))
    return Parser(Language(getattr(module, grammar.function)())).parse(text).root_node


def definitions(root: Any, language: str) -> Iterator[Defined]:
    """Yield what a tree defines, each with the name of the innermost definition around it."""
    wanted = DEFINING[language].split()
    stack = [(root, "")]
    while stack:
        node, container = stack.pop()
        inner = container
        has_body = node.is_named and node.child_by_field_name("body") is not None
        is_wanted = node.is_named and (node.type in wanted or (has_body and f"{node.type}!" in wanted))
        is_wanted = is_wanted or (language in ("javascript", "typescript") and _is_function(node))
        if is_wanted and (name := _name(node)) is not None:
            *owners, inner = SEPARATOR.split(_spell(name)) if language != "shell" else [_spell(name)]
            first_part = name.end_point[0] + 1 if owners else name.start_point[0] + 1
            end = node.end_point[0] + (node.end_point[1] > 0)
            if node.type != "impl_item" and not any(child.type == "extension" for child in node.children):
                yield Defined(inner, first_part, end, owners[-1] if owners else _receiver(node) or container)
        stack += [(child, inner) for child in node.children]


def _is_function(node: Any) -> bool:
    """Whether a node of JavaScript gives a function a name."""
    if node.type in ("function_expression", "generator_function"):
        return True
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    while value is not None and value.type == "assignment_expression":
        value = value.child_by_field_name("right")
    return value is not None and value.type in ("arrow_function", "function_expression", "generator_function")


def _spell(name: Any) -> str:
    """Return a name without marks and without arguments of templates and types."""
    text = name.text.decode(errors="replace").strip("`#@() ")
    return text if "operator" in text else re.sub(r"<.*>", "", text.removeprefix("r#"), flags=re.DOTALL)


def _name(node: Any) -> Any:
    """Return the node of the name that a node defines."""
    name = node.child_by_field_name("name") or node.child_by_field_name("key")
    if name is None and (left := node.child_by_field_name("left")) is not None:
        name = left.child_by_field_name("property") or left
    if name is None and node.type in ("type_alias", "impl_item"):
        name = node.child_by_field_name("type")
    if name is None:
        name = node.child_by_field_name("declarator")
        while name is not None and name.type.endswith("declarator"):
            name = name.child_by_field_name("declarator") or next(iter(name.named_children), None)
    return name


def _receiver(node: Any) -> str:
    """Return the type that a method of Go belongs to; empty for all else."""
    receiver = node.child_by_field_name("receiver") if node.type == "method_declaration" else None
    if receiver is None:
        return ""
    text = receiver.text.decode().strip("()").split()[-1] if receiver.text.strip(b"() ") else ""
    return re.sub(r"\[.*", "", receiver.text.decode().strip("()")).split()[-1].lstrip("*") if text else ""


def roles(root: Any, language: str, text: bytes) -> dict[tuple[int, bytes], set[str]]:
    """Return the roles of every word on every line: comment, string, import, call, or use."""
    imports = IMPORTS.get(language, "").split()
    by_offset: dict[int, str] = {}
    words = {match.start(): match[0] for match in WORD.finditer(text)}
    offsets = list(words)
    nodes = list(_nodes(root, imports, language))
    # Outer nodes come first, so that inner ones decide.
    for node, role in nodes:
        if node.child_count == 0 or role != "use":
            inside = offsets[bisect_left(offsets, node.start_byte) : bisect_left(offsets, node.end_byte)]
            by_offset.update(dict.fromkeys(inside, role))
    for node, role in nodes:
        if node.type in CALLS.split() and role == "use" and (called := _called(node)) is not None:
            by_offset[called.start_byte] = "call"
        if node.type == "token_tree" and role == "use":
            by_offset.update((name.start_byte, "call") for name in _called_in_macro(node))
    found: dict[tuple[int, bytes], set[str]] = {}
    line, position = 1, 0
    for offset, word in words.items():
        line, position = line + text.count(b"\n", position, offset), offset
        found.setdefault((line, word), set()).add(by_offset.get(offset, "use"))
    return found


def _called_in_macro(node: Any) -> Iterator[Any]:
    """Yield names before parentheses among the tokens that a macro of Rust is given."""
    for name, after in zip(node.children, node.children[1:], strict=False):
        if name.type == "identifier" and after.type == "token_tree" and after.text.startswith(b"("):
            yield name


def _nodes(root: Any, imports: list[str], language: str) -> Iterator[tuple[Any, str]]:
    """Yield all nodes with their roles."""
    stack = [(root, "use")]
    while stack:
        node, around = stack.pop()
        role = _role(node, around, imports, language)
        yield node, role
        stack += [(child, role) for child in node.children]


def _role(node: Any, around: str, imports: list[str], language: str) -> str:
    if "comment" in node.type or node.type in ("shebang", "hash_bang_line") or (language, node.type) == ("php", "text"):
        return "comment"
    if around == "comment" or (around == "import" and not CODE.search(node.type)):
        return around
    if node.type == "export_statement" and node.child_by_field_name("source") is not None:
        return "import"
    if node.is_named and (node.type in imports or re.match(r"(future_)?import(_|$)", node.type)):
        return "import"
    if node.type in ("call", "command") and language in IMPORTING and node.named_children:
        return "import" if node.named_children[0].text in IMPORTING[language] else around
    if CODE.search(node.type):
        return "use"
    return "string" if node.is_named and STRINGS.search(node.type) else around


def _called(node: Any) -> Any:
    """Return the node of the name that a call calls; None if it calls something without a name."""
    target = next((child for field in CALLED if (child := node.child_by_field_name(field)) is not None), None)
    if target is None:
        target = next((child for child in node.named_children if child.type not in ARGUMENTS.split()), None)
    while target is not None and not NAMES.search(target.type):
        # In a chain of names the last is called; what stands in brackets behind it are arguments of a type.
        inner = [child for child in target.named_children if child.type not in ARGUMENTS.split()]
        target = inner[-1] if inner else None
    while target is not None and target.named_child_count:
        target = target.named_children[-1]
    return target if target is not None and WORD.match(target.text) else None
