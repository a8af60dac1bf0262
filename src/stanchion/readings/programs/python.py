"""Python as its own parser reads it: what it calls, with what is known of the arguments."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Final

from stanchion.readings.programs.calls import ENVIRONMENT, LONGEST, MANY, Code, CodeCall
from stanchion.readings.programs.unrolled import unrolled
from stanchion.readings.shell.python_code import Values, nodes_of
from stanchion.readings.word_lists import listed

SWEEPS: Final = listed("rglob glob iglob walk iterdir scandir listdir")
HOMES: Final = listed("home expanduser HOME")
MADE_FOR_ONCE: Final = listed("TemporaryDirectory mkdtemp")
PUTS: Final = listed("append extend add update insert")
"""Calls that put something into what they are called on."""
NAMED: Final = 64
"""How many things in tables are kept of one call."""
CLOSURE: Final = 6
"""How often what variables are made of is looked up in turn."""


NOBODY: Final[frozenset[str]] = frozenset()
KEPT: Final = 32
"""How many pieces of code are remembered: several ask for the same one."""


@lru_cache(KEPT)
def read_python(code: str) -> Code | None:
    """What a piece of Python calls; `None` where it is none, or too much of it."""
    if len(code) > LONGEST:
        return None
    try:
        nodes = nodes_of(ast.parse(code))
        written_out = unrolled(nodes)
        nodes = nodes if written_out is None else nodes_of(written_out)
        values = Values()
        values.note(nodes)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    made = _made(nodes)
    calls = [_called(node, values, made) for node in nodes if isinstance(node, ast.Call)]
    return Code(tuple(calls[:MANY]), _forks(nodes))


def _called(node: ast.Call, values: Values, made: dict[str, frozenset[str]]) -> CodeCall:
    func = node.func
    name, of, on = "", "", None
    if isinstance(func, ast.Attribute):
        name, of, on = func.attr, _dotted(func.value), values.value(func.value)
    elif isinstance(func, ast.Name):
        name = values.called.get(func.id, func.id)
    elif isinstance(func, ast.Call):  # `getattr(os, "sys" + "tem")(…)`
        texts = [values.value(arg) for arg in func.args[:2]]
        of = _dotted(func.args[0]) if func.args else ""
        name = texts[1] if len(texts) > 1 and texts[1] is not None else ""
    given = [
        *node.args,
        *[word.value for word in node.keywords if word.arg not in ("headers", "auth", "env")],
    ]
    flat = [
        each
        for arg in node.args
        for each in (arg.elts if isinstance(arg, ast.List | ast.Tuple) else [arg])
    ]
    used = frozenset().union(*[_names(arg) for arg in given]) if given else _names(func)
    used = _closed(used, made)
    kept = [word.value for word in node.keywords if word.arg in ("headers", "auth")]
    used |= (
        frozenset().union(*[_closed(_names(arg), made) for arg in kept]) & ENVIRONMENT
        if kept
        else frozenset()
    )
    if on is None and isinstance(func, ast.Attribute):
        on = _swept(func.value, made)
    texts = [values.value(each) for each in flat]
    args = [
        _told(each, made) if text is None else text for each, text in zip(flat, texts, strict=True)
    ]
    named = [(word.arg, _value(word.value, values)) for word in node.keywords if word.arg]
    named += [pair for each in given for pair in _held_by_name(each, values)][:NAMED]
    behind = _closed(_names(func.value), made) if isinstance(func, ast.Attribute) else NOBODY
    return CodeCall(name, of, on, tuple(args), used, tuple(named), behind)


def _held_by_name(node: ast.expr, values: Values) -> list[tuple[str, str | None]]:
    """What tables that are written out among arguments hold by name."""
    return [
        (str(key.value), _value(value, values))
        for each in ast.walk(node)
        if isinstance(each, ast.Dict)
        for key, value in zip(each.keys, each.values, strict=True)
        if isinstance(key, ast.Constant) and not isinstance(value, ast.Dict)
    ]


def _value(node: ast.expr, values: Values) -> str | None:
    """What is given by name: a text, a number, or whether it is so."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        return str(node.value)
    return values.value(node)


def _told(node: ast.expr, made: dict[str, frozenset[str]]) -> str | None:
    """A number as it is written for rights, or what a loop goes through."""
    match node:
        case ast.Constant(value=int(number)):
            return f"0o{number:o}"
        case _:
            names = _closed(_names(node), made)
            if MADE_FOR_ONCE.isdisjoint(names) or any(".." in name for name in names):
                return _swept(node, made)
            return "$(mktemp…)"


def _swept(node: ast.expr, made: dict[str, frozenset[str]]) -> str | None:
    """The pattern of what a loop goes through that an expression is made of, where it is all of a
    home or a folder."""
    names = _closed(_names(node), made)
    if SWEEPS.isdisjoint(names):
        return None
    patterns = [name for name in names if "*" in name]
    folders = [name for name in names if name[:1] in ("/", "~") and "*" not in name]
    if not HOMES.isdisjoint(names) and all(folder in ("~", "~/") for folder in folders):
        folders = ["~"]
    if (
        len(folders) != 1
        or len(patterns) > 1
        or any(name[:1] == "." and len(name) > 1 for name in names)
    ):
        return None
    pattern = next(iter(patterns), "**")
    return pattern if pattern[0] in "/~" else f"{folders[0].rstrip('/')}/{pattern}"


def _made(nodes: list[ast.AST]) -> dict[str, frozenset[str]]:
    """What each variable is made of, by the names and texts of what is given to it."""
    made: dict[str, frozenset[str]] = {}
    for node in nodes:
        pairs: list[tuple[ast.expr, ast.expr]] = []
        match node:
            case ast.Assign():
                pairs = [(target, node.value) for target in node.targets]
            case ast.AugAssign() | ast.For() | ast.AsyncFor() | ast.comprehension():
                pairs = [
                    (node.target, node.value if isinstance(node, ast.AugAssign) else node.iter)
                ]
            case ast.With() | ast.AsyncWith():
                pairs = [
                    (item.optional_vars, item.context_expr)
                    for item in node.items
                    if item.optional_vars is not None
                ]
            case ast.NamedExpr():
                pairs = [(node.target, node.value)]
            case ast.Call(func=ast.Attribute(attr=name, value=ast.Name() as into)):
                pairs = [(into, each) for each in node.args] if name in PUTS else []
        for target, value in pairs:
            for name in [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]:
                made[name] = made.get(name, frozenset()) | _names(value)
    return made


def _names(node: ast.AST) -> frozenset[str]:
    """The names and texts in an expression; `environ[]` where one variable of the environment is
    asked for."""
    found: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop()
        match one:
            case ast.Subscript(value=ast.Attribute(attr="environ")):
                found.add("environ[]")
                waiting.append(one.slice)
                continue
            case ast.Call(func=ast.Attribute(attr="get", value=ast.Attribute(attr="environ"))):
                found.add("environ[]")
                continue
            case ast.Name():
                found.add(one.id)
            case ast.Attribute():
                found.add(one.attr)
            case ast.Constant(value=str(text)):
                found.add(text)
        waiting += ast.iter_child_nodes(one)
    return frozenset(found)


def _closed(used: frozenset[str], made: dict[str, frozenset[str]]) -> frozenset[str]:
    for _ in range(CLOSURE):
        more = used.union(*[made[name] for name in used if name in made])
        if more == used:
            break
        used = more
    return used


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Call):
        return _dotted(node.func)
    return node.id if isinstance(node, ast.Name) else ""


def _forks(nodes: list[ast.AST]) -> bool:
    """Whether it starts itself again in a loop."""
    loops = [node for node in nodes if isinstance(node, ast.While | ast.For)]
    return any(
        isinstance(node, ast.Attribute | ast.Name)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) == "fork"
        for loop in loops
        for node in nodes_of(loop)
    )
