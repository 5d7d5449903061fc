"""All messages of the project as one list in Markdown, to be read and reviewed at a go.

    python tests/messages.py > target/messages.md

Found are the texts of errors, logs, console and help: in `macros/**/*.sql` and in the package, by
what they are given to, and other texts that read as prose. `{…}` stands for what is put in.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "spark_cdc"

# What a text is given to, and what it is then.
ERRORS = re.compile(
    r"(\w*Error|raise_compiler_error|_stop|_?refuse\w*|_bad_sample|not_found|problem)$"
)
PRINTED = re.compile(r"(log|print|_?say|line|printer|Step|warn)$")
HELP = re.compile(r"(add_command|add_group|add_argument|add_argument_group|add_parser|add)$")

SQL = re.compile(
    r"(select|with|insert|create|alter|drop|show|describe|explain|set|cast|case|from|where|and|or"
    r"|merge|delete|update|cache|refresh|analyze|call|order by|partition|left|inner|join|if\()\s"
    r"[^.]*$|/\*",
    re.IGNORECASE | re.DOTALL,
)
# What is in SQL, and in no sentence.
FUNCTION = re.compile(
    r"\b(cast|concat(_ws)?|from_json|transform|if|coalesce|array|map\w*|get|nullif)\(|struct<"
    r"|case \w+|select \*|lateral view|is not null and|^\s*[)>,]",
)
# Words that messages do not use, and what they say instead.
WORDS: Mapping[str, str] = {
    r"\banew\b": "again; reload, rebuild",
    r"\b(told|tells?)\b": "report, print, log",
    r"\bset aside\b": "reject, quarantine",
    r"\boutstanding\b": "pending",
    r"\bdid not come\b|\bnever came in\b": "missing",
    r"\bsquash": "compact, merge",
    r"(?<![-_.])\blift(s|ed)?\b": "override",
    r"\b(visible at once|come to lie|takes? the place of)\b": "atomic; replaces",
    r"\b(what is gone|nobody needs|loads that count)\b": "deleted; active loads",
    r"\b(stands?|lies|lie|lay) (in|at|behind|before|below)\b": "is in, is before, is after",
    r"\bbehind (the|it|an?|others?|them)\b": "after, later than",
    r"\bto be had\b|\bcomes right\b|\bsuch (a|an|that)\b": "another wording",
}


@dataclass(frozen=True, order=True)
class Message:
    """A text with its place. kind: error, print, help or text."""

    file: str
    line: int
    kind: str
    text: str


def is_prose(text: str) -> bool:
    """Say whether a text is for people: some words with spaces between them, and no SQL."""
    plain = re.sub(r"\{[^{}]*\}", " ", text)
    return len(re.findall(r"(?<![\w.%(/])[A-Za-z][a-z']+(?=[ ,.:;?)]|$)", plain)) > 2 and not (
        SQL.match(text.strip()) or FUNCTION.search(text)
    )


# --- Python -------------------------------------------------------------------


def of_python(folder: Path = PACKAGE) -> Iterator[Message]:
    """Yield the messages of Python files."""
    for path in sorted(folder.rglob("*.py")):
        yield from _of_module(ast.parse(path.read_text("utf-8")), _place(path))


def _of_module(tree: ast.Module, place: str) -> Iterator[Message]:
    """Texts of a module, without docstrings; what is in a text is a part of it."""

    def visit(node: ast.AST, kind: str) -> Iterator[Message]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)
            kind = _kind(name, kind)
        if isinstance(node, ast.JoinedStr) or _is_text(node):
            text = _python_text(node)
            if (
                kind in ("error", "print") and re.search("[a-z]{2}", text) and " " in text.strip()
            ) or is_prose(text):
                yield Message(place, _line(node), kind, text)
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, kind)

    yield from visit(tree, "text")


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _kind(name: str, given: str) -> str:
    """Return what a text is that a function of this name gets; `given` if it says nothing."""
    for pattern, kind in ((ERRORS, "error"), (PRINTED, "print"), (HELP, "help")):
        if pattern.fullmatch(name):
            return kind
    return given


def _python_text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.JoinedStr)
    return "".join(
        _python_text(part) if isinstance(part, ast.Constant) else f"{{{_inner(part)}}}"
        for part in node.values
    )


def _inner(part: ast.AST) -> str:
    assert isinstance(part, ast.FormattedValue)
    quoted = "!r" if part.conversion == ord("r") else ""
    return ast.unparse(part.value) + quoted


# --- macros -------------------------------------------------------------------


def of_macros(folder: Path = ROOT / "macros") -> Iterator[Message]:
    """Yield the messages of macros."""
    environment = jinja2.Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
    # dbt's own blocks, with as many lines
    begin = re.compile(r"(\{%-?\s*)(?:materialization|test)\b([^%]*?)(-?%\})")
    for path in sorted(folder.rglob("*.sql")):
        text = begin.sub(r"\1macro block() \3", path.read_text("utf-8"))
        text = re.sub(r"end(materialization|test)\b", "endmacro", text)
        yield from _of_template(environment.parse(text), _place(path))


def _of_template(template: nodes.Template, place: str) -> Iterator[Message]:
    macros = list(template.find_all(nodes.Macro))
    raised = {one: _given_names(one) for one in macros}

    def visit(node: nodes.Node, kind: str, named: Mapping[str, str]) -> Iterator[Message]:
        if isinstance(node, nodes.Macro):
            named = raised[node]
        if isinstance(node, nodes.Call):
            kind = _kind(_called(node.node), kind)
        if isinstance(node, nodes.AssignBlock):
            name = getattr(node.target, "name", "")
            text = _block_text(node.body)
            if name in named or is_prose(text):
                yield Message(place, node.lineno, named.get(name, "text"), text)
            return
        if isinstance(node, nodes.Output) and kind == "text":
            text = _block_text([node])
            if is_prose(text):
                yield Message(place, node.lineno, "text", text)
                return
        if isinstance(node, nodes.Concat | nodes.Add | nodes.Mod) or _is_const(node):
            text = _jinja_text(node)
            known = kind in ("error", "print") and " " in text.strip()
            if known or is_prose(text):
                yield Message(place, node.lineno, kind, text)
                return
        for child in node.iter_child_nodes():
            yield from visit(child, kind, named)

    yield from visit(template, "text", {})


def _given_names(macro: nodes.Macro) -> dict[str, str]:
    """Return the variables of a macro that it gives to what raises or logs, with their kind."""
    found = {}
    for call in macro.find_all(nodes.Call):
        kind = _kind(_called(call.node), "")
        if kind in ("error", "print"):
            for argument in call.args:
                found |= {one.name: kind for one in argument.find_all(nodes.Name)}
                if isinstance(argument, nodes.Name):
                    found[argument.name] = kind
    return found


def _called(node: nodes.Node) -> str:
    return str(getattr(node, "attr", "") or getattr(node, "name", ""))


def _is_const(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Const) and isinstance(node.value, str)


def _block_text(body: list[Any]) -> str:
    """Return what a block puts out, of all branches."""
    parts = []
    for node in body:
        if isinstance(node, nodes.Output):
            parts += [
                one.data if isinstance(one, nodes.TemplateData) else _jinja_text(one)
                for one in node.nodes
            ]
        else:
            parts += [_block_text(part) for part in (getattr(node, "body", []),) if part]
            parts += [_block_text(getattr(node, "else_", []))]
    return "".join(parts)


def _jinja_text(node: nodes.Node) -> str:
    """Return an expression as a text with placeholders."""
    if isinstance(node, nodes.Const):
        return str(node.value)
    if isinstance(node, nodes.Concat):
        return "".join(map(_jinja_text, node.nodes))
    if isinstance(node, nodes.Add):
        return _jinja_text(node.left) + _jinja_text(node.right)
    if isinstance(node, nodes.Mod):
        return _jinja_text(node.left)
    if isinstance(node, nodes.CondExpr):
        other = _jinja_text(node.expr2) if node.expr2 else ""
        return f"[{_jinja_text(node.expr1)}|{other}]"
    return f"{{{_expression(node)}}}"


def _expression(node: nodes.Node) -> str:
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        return f"{_expression(node.node)}.{node.attr}"
    if isinstance(node, nodes.Call):
        return f"{_expression(node.node).removeprefix('spark_cdc.')}()"
    inner = getattr(node, "node", None)
    return _expression(inner) if isinstance(inner, nodes.Node) else "…"


# --- the list -----------------------------------------------------------------


def _place(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def broken_rules(message: Message) -> list[str]:
    """Return the words of a message that should be others."""
    return [
        f"{message.file}:{message.line}: {found[0]!r}: say {better}"
        for pattern, better in WORDS.items()
        if (found := re.search(pattern, re.sub(r"\{[^{}]*\}", "{}", message.text)))
    ]


def listed(messages: Iterator[Message]) -> str:
    """Return messages as Markdown: a list for each file."""
    lines: list[str] = []
    file = ""
    for one in sorted(set(messages)):
        if one.file != file:
            file = one.file
            lines += ["", f"### {file}", ""]
        text = " ".join(one.text.split())
        lines.append(f"- {one.line} {one.kind}: {text}")
    return "\n".join(lines)


def main() -> int:
    """Print all messages."""
    print(f"# Messages\n\n## Macros\n{listed(of_macros())}\n\n## Python\n{listed(of_python())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
