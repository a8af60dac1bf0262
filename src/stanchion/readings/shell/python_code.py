"""Python as it is read, not run: the modules, names and texts of a piece of code, texts put
together where they are."""

from __future__ import annotations

import ast
from typing import Any, Final

from stanchion.readings.programs.calls import UNKNOWN, known_parts
from stanchion.readings.programs.decoding import decoded
from stanchion.readings.shell.known import WORDS

LONGEST: Final = 65_536
DEEPEST: Final = 40
RUNS: Final = frozenset({"exec", "eval", "compile"})
STARTS: Final = WORDS["functions of Python that start a program"]
"""Functions that start a program; the first of their arguments that is no mode says which."""


TELLING: Final = frozenset({ast.Attribute, ast.Call, ast.List, ast.Tuple})
"""What has parts that belong together."""
MAKING: Final = frozenset({ast.Constant, ast.Name, ast.JoinedStr, ast.BinOp, ast.Subscript})
"""What may make a text, beside calls."""


def python_texts(code: str) -> list[str] | None:
    """The texts that a piece of Python makes; `None` where it is none, or too much of it."""
    if len(code) > LONGEST:
        return None
    try:
        reader = Values()
        reader.read(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return list(dict.fromkeys([*reader.texts, *reader.firsts]))


class Values:
    def __init__(self) -> None:
        self.firsts: list[str] = []
        self.texts: list[str] = []
        self.values: dict[str, str] = {}
        self.called: dict[str, str] = {}
        self.depth = 0

    def read(self, code: str) -> None:
        if self.depth > 3:
            return
        self.depth += 1
        nodes = list(ast.walk(ast.parse(code)))
        said: set[int] = set()
        for node in nodes:
            match node:
                case ast.Expr():
                    said.add(id(node.value))
                case ast.Assign(targets=[ast.Name(id=name)]):
                    value = self.value(node.value)
                    if value is not None:
                        self.values[name] = value
                    elif isinstance(node.value, ast.Name | ast.Attribute):
                        self.called[name] = _name(node.value)
                case ast.ImportFrom():
                    self.called.update(
                        {each.asname: each.name for each in node.names if each.asname}
                    )
        for node in nodes:
            kind = type(node)
            if kind in TELLING:
                self._note(node)
            elif kind in MAKING and not (kind is ast.Constant and id(node) in said):
                self._text(node)
        self.depth -= 1

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self._called(node)
        elif isinstance(node, ast.List | ast.Tuple):
            self._joined(node.elts)
        self._text(node)

    def _text(self, node: Any) -> None:
        value = self.value(node)
        if value is not None and len(value) > 2:
            self.texts.append(value)

    def _called(self, node: ast.Call) -> None:
        name = self.called.get(_name(node.func), _name(node.func))
        first = self.value(node.args[0]) if node.args else None
        self._joined(node.args)
        self._started(name, node)
        if first is None:
            return
        self.firsts.append(first)
        if name in RUNS and first.strip():
            try:
                self.read(first)
            except SyntaxError:
                self.texts.append(first)

    def _started(self, name: str, node: ast.Call) -> None:
        """Note what a call starts: a program and the words behind it, which may be given apart
        (`execvp`)."""
        given = [
            each
            for each in node.args
            if not (isinstance(each, ast.Constant | ast.Attribute) and _is_mode(each))
        ]
        words = [
            part
            for each in given
            for part in (each.elts if isinstance(each, ast.List | ast.Tuple) else [each])
        ]
        if name not in STARTS or not words:
            return
        known = known_parts(map(self.value, words))
        self.texts += [" ".join(known), " ".join([known[0], *known[2:]])]

    def _joined(self, nodes: list[ast.expr]) -> None:
        values = [self.value(node) for node in nodes]
        known = [value for value in values if value is not None]
        if len(known) > 1:
            self.texts.append(" ".join(known))

    def value(self, node: ast.expr, depth: int = 0) -> str | None:
        """The text that an expression makes; `$` stands for its unknown parts, None where all of it
        is unknown."""
        if depth > DEEPEST:
            return None
        deep = depth + 1
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Constant(value=bytes(raw)):
                return raw.decode("latin-1")
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return f"-{number}"
            case ast.Name(id=name):
                return self.values.get(name)
            case ast.JoinedStr():
                return "".join([self._part(each, deep) for each in node.values])
            case ast.BinOp(op=ast.Add()):
                return _both(self.value(node.left, deep), self.value(node.right, deep), "")
            case ast.BinOp(op=ast.Div()):
                return _both(self.value(node.left, deep), self.value(node.right, deep), "/")
            case ast.BinOp(op=ast.Mod()):
                return self._filled(node, deep)
            case ast.Subscript(
                slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp(op=ast.USub()))
            ):
                turned = self.value(node.value, deep)
                return None if turned is None else turned[::-1]
            case ast.Subscript(value=ast.Attribute(attr="environ")):
                variable = self.value(node.slice, deep)
                return None if variable is None else f"${variable}"
            case ast.Call():
                return self._made(node, deep)
            case _:
                return None

    def _part(self, node: ast.expr, depth: int) -> str:
        value = self.value(node.value if isinstance(node, ast.FormattedValue) else node, depth)
        return UNKNOWN if value is None else value

    def _filled(self, node: ast.BinOp, depth: int) -> str | None:
        text = self.value(node.left, depth)
        if text is None:
            return None
        parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        for part in parts:
            value = self.value(part, depth)
            text = text.replace("%s", UNKNOWN if value is None else value, 1)
        return text

    def _made(self, node: ast.Call, depth: int) -> str | None:
        name = _name(node.func)
        on = node.func.value if isinstance(node.func, ast.Attribute) else None
        args = [self.value(arg, depth) for arg in node.args]
        held = None if on is None else self.value(on, depth)
        match name, node.args:
            case "home", _:
                return "~"
            case "getenv", _ if args[:1] not in ([], [None]):
                return f"${args[0]}"
            case "get", _ if args[:1] not in ([], [None]) and _name(on) == "environ":
                return f"${args[0]}"
            case "join", [ast.List() | ast.Tuple() as items, *_] if held is not None:
                return held.join([self._part(each, depth) for each in items.elts])
            case "join" | "joinpath" | "Path" | "PurePath" | "PosixPath" | "PurePosixPath", _:
                pieces = [held] if held is not None and name == "joinpath" else []
                joined = known_parts((*pieces, *args))
                return "/".join(joined) if {*joined} - {UNKNOWN} else None
            case "chr", [ast.Constant(value=int(number)), *_]:
                return chr(number) if 0 <= number < 0x110000 else None
            case "chr", [ast.Constant(), *_]:
                return None
            case "replace", [_, _] if held is not None:
                old, new = args
                return None if old is None or new is None else held.replace(old, new)
            case "decode", _ if args[1:] in (["rot13"], ["rot_13"]):
                return decoded("str_rot13", None, args)
            case "format", _ if held is not None:
                for each in known_parts(args):
                    held = held.replace("{}", each, 1)
                return held
        return decoded(name, held, args)


def _both(left: str | None, right: str | None, between: str) -> str | None:
    if left is None and right is None:
        return None
    return f"{UNKNOWN if left is None else left}{between}{UNKNOWN if right is None else right}"


def _name(node: ast.expr | None) -> str:
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def _is_mode(node: ast.Constant | ast.Attribute) -> bool:
    """Whether an argument says how to start, not what: `os.P_NOWAIT`."""
    return (
        node.attr.startswith("P_")
        if isinstance(node, ast.Attribute)
        else isinstance(node.value, int)
    )
