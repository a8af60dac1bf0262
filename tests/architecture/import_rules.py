"""The import rule as data, and the judge that reads a source file by it.

Imports point inward. Every import counts, wherever it stands: in a function, under TYPE_CHECKING,
or as a literal name given to `import_module`.
"""

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from tests.sources import nodes, tree_of

SIDE = frozenset({"stores", "audit", "approvals", "telemetry"})
INNER = frozenset({"kernel", "readings", "guards", "tutor", "policy", "experience"})
OUTER = INNER | SIDE | {"folders", "locks", "runtime", "root", "typed"}

LAB = "stanchion_lab"
PLAYS_TABLES = "policy_tests"
"""The part of the lab that plays tables of cases: they are a public form of `stanchion.testing`."""

# Room → rooms it may import besides itself. A dot names a room within a room. `root` is
# `stanchion/__init__.py`; the lab is a distribution of its own.
ALLOWED: dict[str, frozenset[str]] = {
    "kernel": frozenset({"typed"}),
    "readings": frozenset({"kernel", "typed"}),
    "guards": frozenset({"kernel", "readings", "typed"}),
    "tutor": frozenset({"kernel", "readings", "typed"}),
    "tutor.playing": OUTER,
    "experience": frozenset({"kernel", "readings"}),
    "policy": frozenset({"kernel", "readings", "guards", "tutor", "folders", "typed"}),
    "folders": frozenset(),
    "locks": frozenset(),
    "typed": frozenset({"locks"}),
    **dict.fromkeys(SIDE, frozenset({"kernel", "locks", "typed"})),
    "stores": frozenset({"kernel", "experience", "locks", "typed"}),
    "audit": frozenset({"kernel", "experience", "folders", "locks", "typed"}),
    "runtime": INNER | SIDE | {"folders", "locks", "typed"},
    # The outermost of the runtime: what is judged at the door is judged as any client's request is.
    "runtime.door": OUTER | {"hosts", "hosts.contract"},
    "hosts.contract": OUTER - {"guards"},
    "hosts": (OUTER | {"hosts.contract"}) - {"guards"},
    "hosts.coding": (OUTER | {"hosts", "hosts.contract"}) - {"guards"},
    "hosts.claude_agent_sdk": (OUTER | {"hosts", "hosts.coding", "hosts.contract"}) - {"guards"},
    "dialects": OUTER | {"hosts.contract", "tutor.playing"},
    "ops": frozenset(),
    "ops.views": OUTER - {"root"} | {"tutor.playing"},
    "ops.broker": OUTER | {"hosts.contract", "ops.views"},
    "ops.daemon": OUTER | {"hosts", "hosts.coding", "ops.broker"},
    "ops.answering": OUTER | {"hosts.coding", "ops.broker", "ops.daemon", "ops.views"},
    "ops.demo": OUTER | {"hosts.contract", "ops.views"},
    "testing": frozenset({"approvals", "kernel", "policy", "runtime", "stores", "typed"}),
    "cli": OUTER
    | {
        "dialects",
        "hosts",
        "hosts.coding",
        "hosts.contract",
        "ops.answering",
        "ops.broker",
        "ops.daemon",
        "ops.demo",
        "runtime.door",
    }
    | {"ops.views", "tutor.playing"},
    LAB: OUTER
    | {"cli", "dialects", "hosts.coding", "hosts.contract", "ops.views", "tutor.playing"},
    "root": INNER | {"runtime"},
    "__main__": frozenset({"cli"}),
}

PURE = frozenset({"kernel", "readings", "guards", "tutor", "experience"})
CLOCK_AND_CHANCE = {"random", "sched", "secrets", "time", "uuid"}
FILES = {
    "fcntl",
    "glob",
    "io",
    "mmap",
    "os",
    "pathlib",
    "platformdirs",
    "shelve",
    "shutil",
    "sqlite3",
    "tempfile",
}
NETWORK = {"http", "select", "selectors", "socket", "socketserver", "ssl", "urllib.request"}
TASKS = {
    "_thread",
    "asyncio",
    "concurrent",
    "multiprocessing",
    "queue",
    "signal",
    "subprocess",
    "threading",
}
SURROUNDINGS = {
    "ctypes",
    "getpass",
    "importlib",
    "locale",
    "logging",
    "platform",
    "resource",
    "yaml",
}
IMPURE_MODULES = CLOCK_AND_CHANCE | FILES | NETWORK | TASKS | SURROUNDINGS
PURE_PARTS = frozenset({"pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath"})
IMPURE_CALLS = frozenset({"__import__", "breakpoint", "eval", "exec", "input", "open", "print"})
CLOCK_CALLS = frozenset({"now", "today", "utcnow"})


class Import(NamedTuple):
    """One imported name: its line, the module it is taken from, and the name, empty for a whole
    module."""

    line: int
    module: str
    name: str

    @property
    def full(self) -> str:
        """The dotted path of what is imported."""
        return f"{self.module}.{self.name}" if self.name else self.module


def imports(path: PurePosixPath, tree: ast.Module) -> Iterator[Import]:
    """Yield every import in a file; `path` is relative to src and resolves relative imports."""
    package = path.parent.parts
    for node in nodes(tree, ast.Import, ast.ImportFrom, ast.Call):
        match node:
            case ast.Import():
                for alias in node.names:
                    yield Import(node.lineno, alias.name, "")
            case ast.ImportFrom():
                above = package[: len(package) - node.level + 1] if node.level else ()
                module = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    yield Import(node.lineno, module, alias.name)
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called),
                args=[ast.Constant(value=str(name)), *_],
            ):
                if called in {"import_module", "__import__"}:
                    yield Import(node.lineno, name, "")


def room_of(path: PurePosixPath) -> str:
    """Name the room a file belongs to."""
    if path.parts[0] == LAB:
        return LAB
    if len(path.parts) > 2:
        return _room(path.parts[1], *path.parts[2:-1])
    return "root" if path.stem == "__init__" else path.stem


def _room(outer: str, inner: str = "", *_: str) -> str:
    return room if (room := f"{outer}.{inner}") in ALLOWED else outer


def violations(path: PurePosixPath, source: str) -> list[str]:
    """Say, one line each, where a file breaks the rule and what to do; `path` is relative to
    src."""
    room = room_of(path)
    if room not in ALLOWED:
        return [f"src/{path}: `{room}` is no room of the design; move the file into one"]
    tree = tree_of(source)
    found = []
    for each in imports(path, tree):
        complaint = _between_rooms(path, room, each)
        if complaint is None and room in PURE:
            complaint = _impure_import(room, each)
        if complaint is not None:
            found.append(f"src/{path}:{each.line}: {complaint}")
    if room in PURE:
        found += [f"src/{path}:{line}: {complaint}" for line, complaint in _impure_code(room, tree)]
    return found


def _between_rooms(path: PurePosixPath, room: str, each: Import) -> str | None:
    parts = each.full.split(".")
    if parts[0] == LAB and room != LAB:
        return (
            f"`{each.full}` is of the lab, which is not installed everywhere; move what you "
            f"need into a room"
        )
    if parts[0] != "stanchion":
        return None
    target = _room(*parts[1:]) if len(parts) > 1 and parts[1] in ALLOWED else "root"
    plays_tables = path.parts[:2] == (LAB, PLAYS_TABLES)
    if target == "testing" and room != "testing":
        said = "`stanchion.testing` is for tests; move what you need into a room"
        return None if plays_tables else said
    if room == "guards" and target == "guards":
        return _between_guards(path, parts)
    if target == room or target in ALLOWED[room]:
        return None
    allowed = ", ".join(f"`{name}`" for name in sorted(ALLOWED[room]))
    may = f"may import only {allowed}" if allowed else "may import no other room"
    return (
        f"room `{room}` imports `{each.full}`, but {may}; turn the dependency round or hand the "
        f"thing in"
    )


def _between_guards(path: PurePosixPath, parts: list[str]) -> str | None:
    own = path.with_suffix("").parts[2]
    imported = parts[2] if len(parts) > 2 else ""
    if own in {"__init__", "_shipped", imported} or imported.startswith("_"):
        return None
    shown = ".".join(parts)
    return (
        f"guard `{own}` imports `{shown}`; guards never import each other: move what they share to "
        f"`kernel`"
    )


def _impure_import(room: str, each: Import) -> str | None:
    steps = each.full.split(".")
    prefixes = {".".join(steps[: end + 1]) for end in range(len(steps))}
    if prefixes & IMPURE_MODULES and each.full not in PURE_PARTS:
        return (
            f"room `{room}` is pure but imports `{each.full}`; take the fact from the event or "
            f"from a lookup"
        )
    return None


def _impure_code(room: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in nodes(tree, ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Call):
        match node:
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                yield (
                    node.lineno,
                    (
                        f"room `{room}` is pure but awaits; yield what is needed and let a driver "
                        f"fetch it"
                    ),
                )
            case ast.Call(func=ast.Name(id=called)) if called in IMPURE_CALLS:
                yield (
                    node.lineno,
                    f"room `{room}` is pure but calls `{called}`; leave that to the runtime",
                )
            case ast.Call(func=ast.Attribute(attr=called), args=[]) if called in CLOCK_CALLS:
                yield (
                    node.lineno,
                    f"room `{room}` is pure but reads a clock by `{called}`; time is in the event",
                )
