"""Values of a struct are read through `stanchion.typed` alone: msgspec's own way is not safe in
threads."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import nodes, tree_of

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (ROOT / "src", ROOT / "lab" / "src")
HELPER = "stanchion/typed.py"
BARE = {
    "stanchion_lab/bench/floor.py",
    "stanchion_lab/bench/guards.py",
    "stanchion_lab/fresh/injection.py",
    "stanchion_lab/fresh/programs.py",
    "stanchion_lab/fresh/secrets.py",
}
"""What measures msgspec itself, and what draws cases and may know nothing of Stanchion; each in one
thread."""

FORMATS = ("json", "msgpack", "yaml", "toml")
READS = {"convert", *[f"{name}.{what}" for name in FORMATS for what in ("decode", "Decoder")]}
FROM_THERE = {"convert", "json", "msgpack", "yaml", "toml"}
PLAIN = {
    "Any",
    "bool",
    "bytes",
    "dict",
    "float",
    "frozenset",
    "int",
    "list",
    "object",
    "set",
    "str",
    "tuple",
}


def faults(source: str) -> Iterator[str]:
    """Where a source reads values of a type that may have structs in it, past the helper."""
    tree = tree_of(source)
    for imported in nodes(tree, ast.ImportFrom):
        module = imported.module or ""
        taken = {alias.name for alias in imported.names}
        if (module == "msgspec" and taken & FROM_THERE) or module in {
            f"msgspec.{name}" for name in FORMATS
        }:
            yield (
                f"{imported.lineno}: write `import msgspec`, so that it can be seen what is read "
                f"by it"
            )
    for whole in nodes(tree, ast.Import):
        if any(alias.name.split(".")[0] == "msgspec" and alias.asname for alias in whole.names):
            yield f"{whole.lineno}: msgspec has no other name here"
    # Every mention counts, not only calls: a function that is handed on is called somewhere else.
    called = {id(call.func): call for call in nodes(tree, ast.Call)}
    for mention in nodes(tree, ast.Attribute):
        name = ast.unparse(mention).removeprefix("msgspec.")
        if not ast.unparse(mention).startswith("msgspec.") or name not in READS:
            continue
        call = called.get(id(mention))
        if call is None:
            if not name.endswith("Decoder"):  # a decoder is named as a type, too
                yield (
                    f"{mention.lineno}: hand on a function of `stanchion.typed` instead of "
                    f"`msgspec.{name}`"
                )
        elif not all(_is_plain(kind) for kind in _kinds(name, call)):
            yield (
                f"{mention.lineno}: `msgspec.{name}` is not safe in threads: use `stanchion.typed`"
            )


def _kinds(name: str, call: ast.Call) -> list[ast.expr]:
    place = {"convert": 1}.get(name, 0 if name.endswith("Decoder") else len(call.args))
    return [
        *call.args[place : place + 1],
        *[word.value for word in call.keywords if word.arg in ("type", None)],
    ]


def _is_plain(kind: ast.expr) -> bool:
    return all(
        part.id in PLAIN for part in ast.walk(kind) if isinstance(part, ast.Name)
    ) and not any(isinstance(part, ast.Attribute | ast.Call) for part in ast.walk(kind))


@pytest.mark.parametrize("root", SOURCES, ids=["stanchion", "lab"])
def test_only_the_helper_reads_structs_by_msgspec(root: Path) -> None:
    found = []
    for file in sorted(root.rglob("*.py")):
        path, text = file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")
        if "msgspec" in text and path != HELPER and path not in BARE:
            found += [f"{path}:{fault}" for fault in faults(text)]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "msgspec.convert(value, Line)",
        "msgspec.convert(value, type=Line)",
        "msgspec.convert(value, tuple[Line, ...])",
        "msgspec.convert(value, lines.Line | None)",
        "msgspec.convert(value, type(line))",
        "msgspec.json.decode(data, type=Line)",
        "msgspec.json.decode(data, **how)",
        "msgspec.yaml.decode(data, type=dict[str, Line])",
        "decoder = msgspec.msgpack.Decoder(Line)",
        "def f():\n    return msgspec.json.Decoder(type=Line).decode",
        "read = map(msgspec.convert, values, kinds)",
        "from msgspec import convert",
        "from msgspec.json import decode",
        "import msgspec as m",
        "import msgspec.json as j",
    ],
)
def test_a_fault_is_named(source: str) -> None:
    assert len(list(faults(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "typed.convert(value, Line)",
        "msgspec.json.decode(data)",
        "msgspec.json.decode(data, type=dict[str, Any])",
        "msgspec.convert(value, tuple[int, tuple[bytes, ...]] | None, strict=False)",
        "msgspec.msgpack.Decoder().decode",
        "reader: msgspec.json.Decoder[Line] = typed.reader(Line)",
        "from msgspec import Meta, Struct",
    ],
)
def test_what_has_no_structs_may_be_read(source: str) -> None:
    assert list(faults(source)) == []
