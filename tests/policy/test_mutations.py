"""Thousands of damaged policies: none crashes the loader, none is loaded in part, every fault names
its place."""

import os
import re
from collections import Counter
from collections.abc import Callable
from importlib import resources
from itertools import islice
from random import Random
from typing import Any, Final

import msgspec
import pytest
import yaml

from stanchion.policy.compile import compile_policy
from stanchion.policy.composed import read_text
from stanchion.policy.document import Document, read_data
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.load import PACKS, packs
from stanchion.policy.overlay import extended, variants
from stanchion.policy.schema import any_file
from stanchion.policy.struct_check import check, convert
from stanchion.policy.struct_faults import members
from tests.policy.drawn_policies import JUNK, draw

SOAK: Final = (
    int(os.environ.get("STANCHION_SOAK_EXAMPLES", "100000"))
    if os.environ.get("STANCHION_SOAK")
    else 0
)
MUTANTS: Final = max(200, SOAK)
BLOCK: Final = 500
FILE: Final = "policy.yaml"

RICH: Final = """\
# A policy that says something in every place.
extends: default
name: rich
version: 1.10
mode: enforce
agents:
  scout: {role: reader, allowed_tools: [read_*, search]}
  "007":
    role: &role "an agent\\twith a \\u00e9"
    allowed_tools: []
  copy: {role: *role}
tasks:
  fix-*:
    additional_tools:
      - edit_file
    deadline_s: 30
tools:
  bash: {risk: critical, timeout_s: 1.5}
  'read file': {risk: low}
limits:
  warnings: 4
guards:
  - use: safe_mode
    enabled: false
    fail_open: true
  - use: size_limits
    id: sizes
    max_chars: 0x1000
    max_depth: 8
    max_values: 100
    action: block
    stages: [tool_call, tool_result]
  - {use: tool_allowlist, tools: [bash], undeclared: refuse, action: escalate, priority: 7}
  - use: tool_denylist
    id: no-rm
    tools: [rm, "dd*"]
    action: halt
    category: compliance
    mode: shadow
    applies_to:
      agents: [scout]
      tasks: ["fix-*"]
      tools:
        - bash
  - use: step_limit
    max_steps: 40
    per: task
    warn_after: 30
    action: quarantine
    counter: shared
  - use: python
    call: my_guards:look
    deadline_ms: 250
    deep: true
environments:
  prod:
    limits: {warnings: 1}
    guards:
      - {id: no-rm, mode: enforce}
      - {use: step_limit, warn_after: null}
  dev:
    mode: shadow
"""


def _pack(name: str) -> str:
    return resources.files(PACKS).joinpath(f"{name}.yaml").read_text("utf-8")


def find(name: str, _origin: str) -> Document:
    if name not in packs():
        raise PolicyError([Fault(name, "no such policy: name a pack")])
    return read_text(_pack(name), f"pack {name}")


def faults_of(document: Document) -> list[Fault]:
    """What is wrong with a policy in any of its environments."""
    every = variants(extended(document, find)).values()
    return [fault for one in every for fault in (*one.faults, *check(one, any_file()))]


def drawn(count: int) -> list[str]:
    """Policies drawn from the schema that have no faults."""
    schema = msgspec.inspect.type_info(any_file())
    texts = (
        yaml.safe_dump(draw(schema, Random(seed)), sort_keys=False, allow_unicode=True)
        for seed in range(20 * count)
    )
    return list(islice((text for text in texts if not faults_of(read_text(text, FILE))), count))


def entries() -> list[msgspec.inspect.StructType]:
    """The structs of the guards' entries."""
    (guards,) = [field for field in _policy().fields if field.encode_name == "guards"]
    found = [
        member
        for outer in members(guards.type)
        for member in members(getattr(outer, "item_type", outer))
    ]
    return [one for one in found if isinstance(one, msgspec.inspect.StructType)]


def _policy() -> msgspec.inspect.StructType:
    schema = msgspec.inspect.type_info(any_file())
    assert isinstance(schema, msgspec.inspect.StructType)
    return schema


def every_option() -> str:
    """A policy with every option of every guard."""
    return _written(
        [
            next(guard for seed in range(1_000) if _fits(guard := _entry(one, seed)))
            for one in entries()
        ]
    )


def _entry(one: msgspec.inspect.StructType, seed: int) -> dict[str, Any]:
    chance = Random(f"{one.tag} {seed}")
    return {
        str(one.tag_field): one.tag,
        **{field.encode_name: draw(field.type, chance) for field in one.fields},
    }


def _fits(guard: dict[str, Any]) -> bool:
    return not faults_of(read_text(_written([guard]), FILE))


def _written(guards: list[dict[str, Any]]) -> str:
    text: str = yaml.safe_dump({"name": "all", "guards": guards}, sort_keys=False)
    return text


GOOD: Final = [*[_pack(name) for name in packs()], RICH, every_option(), *drawn(6)]


def load(document: Document) -> str:
    """Do everything that loading a policy does after its file is found; gives the policy's hash."""
    faults = faults_of(document)
    if faults:
        raise PolicyError(faults)
    plain = variants(extended(document, find))[None]
    file = convert(plain, any_file())
    _nothing_is_lost(plain.root.data(), msgspec.to_builtins(file))
    return compile_policy(file, plain.where).hash


def refusal(document: Document) -> tuple[Fault, ...]:
    """What is wrong with a policy; nothing if it is loaded, and then it is whole."""
    try:
        digest = load(document)
    except PolicyError as refused:
        return refused.faults if refused.faults else (Fault("", ""),)
    assert len(digest) == 64
    return ()


def _nothing_is_lost(given: Any, kept: Any) -> None:
    """What the file says is in the policy, all of it."""
    if isinstance(given, dict):
        for key, value in given.items():
            assert key in kept, key
            _nothing_is_lost(value, kept[key])
    elif isinstance(given, list):
        assert len(given) == len(kept)
        for one, other in zip(given, kept, strict=True):
            _nothing_is_lost(one, other)
    else:
        assert given == kept


Lines = list[str]


def _scalar(lines: Lines, chance: Random) -> Lines:
    """Replace what stands behind a colon or a dash by something of another type."""
    at = chance.randrange(len(lines))
    odd = (
        "true",
        "yes",
        "~",
        "12",
        "1.5",
        ".nan",
        "9" * 40,
        "1e999",
        "[]",
        "{}",
        "[a, {b: c}]",
        "'x'",
        "*x",
        "&x",
        "!t x",
        "''",
    )
    lines[at] = re.sub(
        r"(:|-) .*", lambda found: f"{found[1]} {chance.choice(odd)}", lines[at], count=1
    )
    return lines


def _key(lines: Lines, chance: Random) -> Lines:
    at = chance.randrange(len(lines))
    odd = ("nmae", "max_step", "<<", "?", "~", "", '"a b"', "[x]", "id", "use", "é", "x" * 2_000)
    lines[at] = re.sub(r"[\w\"-]+:", lambda _: f"{chance.choice(odd)}:", lines[at], count=1)
    return lines


def _indent(lines: Lines, chance: Random) -> Lines:
    at = chance.randrange(len(lines))
    lines[at] = (
        chance.choice((" ", "  ", "\t", "    ")) + lines[at]
        if chance.random() < 0.6
        else lines[at][1:]
    )
    return lines


def _swap(lines: Lines, chance: Random) -> Lines:
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def _insert(lines: Lines, chance: Random) -> Lines:
    odd = (
        "---",
        "...",
        "%TAG ! x",
        "- x",
        "x: y",
        "<<: {a: b}",
        "\t",
        "? a",
        ": b",
        "[",
        "}",
        "'",
        '"',
        "|",
        "&a *a",
        "[" * 99,
    )
    at = chance.randrange(len(lines) + 1)
    return [*lines[:at], " " * chance.randrange(6) + chance.choice(odd), *lines[at:]]


def _delete(lines: Lines, chance: Random) -> Lines:
    at = chance.randrange(len(lines))
    return lines[:at] + lines[at + chance.randrange(1, 4) :]


def _double(lines: Lines, chance: Random) -> Lines:
    at = chance.randrange(len(lines))
    return [*lines[:at], *lines[at : at + chance.randrange(1, 4)], *lines[at:]]


BY_LINE: Final[list[Callable[[Lines, Random], Lines]]] = [
    _scalar,
    _key,
    _indent,
    _swap,
    _insert,
    _delete,
    _double,
]
ODD: Final = (
    "\0",
    "\x07",
    "\ufeff",
    "\u2028",
    "\x85",
    "\ud800",
    "😀",
    "é",
    "\t",
    ":",
    "-",
    "'",
    '"',
    "#",
    "{",
    "]",
    "*",
    "&",
    "!",
    "\r",
    "0",
)


def damage(text: str, chance: Random) -> str:
    """The text with one or two mistakes in it."""
    for _ in range(chance.choice((1, 1, 2))):
        if chance.random() < 0.7:
            text = "\n".join(chance.choice(BY_LINE)(text.split("\n"), chance))
            continue
        at = chance.randrange(len(text) + 1)
        text = chance.choice(
            (
                text[:at],
                text[at:],
                text[:at] + chance.choice(ODD) + text[at:],
                text[:at] + chance.choice(ODD) + text[at + 1 :],
                text[:at] + text[at + 1 :],
                text.replace("\n", chance.choice(("\r\n", "\r", "\n\n"))),
            )
        )
    return text


def stands_in(fault: Fault, text: str) -> bool:
    """Whether a fault names a line and a column that the file has, or the pack that it extends."""
    found = re.fullmatch(r"(.+):(\d+):(\d+)", fault.place)
    if found is None or found[1] not in {FILE, *(f"pack {name}" for name in packs())}:
        return False
    lines = (
        re.split(r"\r\n?|\n", text)
        if found[1] == FILE
        else _pack(found[1].removeprefix("pack ")).split("\n")
    )
    return (
        1 <= int(found[2]) <= len(lines) and 1 <= int(found[3]) <= len(lines[int(found[2]) - 1]) + 1
    )


@pytest.mark.parametrize("block", range(-(-MUTANTS // BLOCK)))
def test_a_damaged_file_is_refused_at_a_place_or_loaded_whole(block: int) -> None:
    ends: Counter[str] = Counter()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        chance = Random(seed)
        text = damage(chance.choice(GOOD), chance)
        faults = refusal(read_text(text, FILE))
        for fault in faults:
            assert fault.message, seed
            assert stands_in(fault, text), (seed, fault)
        ends["refused" if faults else "loaded"] += 1
    assert ends["refused"] > BLOCK // 4, ends
    assert ends["loaded"] > BLOCK // 50, ends


def _damage_data(data: Any, chance: Random) -> Any:
    """Walk down to a random part and put something else in its place."""
    odd = (*JUNK, {"x"}, b"x", 10**400, float("nan"), "\ud800", object(), {1: 2}, "x" * 10_000)
    if not isinstance(data, dict | list) or not data or chance.random() < 0.1:
        return chance.choice(odd)
    if isinstance(data, list):
        at = chance.randrange(len(data))
        return [*data[:at], _damage_data(data[at], chance), *data[at + 1 :]]
    key = chance.choice(list(data))
    if chance.random() < 0.2:
        return {chance.choice(("nmae", 3, None, "", "\0", "use", key)): data[key], **data}
    if chance.random() < 0.1:
        return {name: value for name, value in data.items() if name != key}
    return {**data, key: _damage_data(data[key], chance)}


def test_damaged_data_is_refused_at_a_path_or_loaded_whole() -> None:
    whole = [yaml.safe_load(text) for text in GOOD]
    ends: Counter[str] = Counter()
    for seed in range(MUTANTS // 4):
        chance = Random(seed)
        faults = refusal(read_data(_damage_data(chance.choice(whole), chance)))
        assert all(
            fault.place.startswith(("policy", "pack ")) and fault.message for fault in faults
        ), seed
        ends["refused" if faults else "loaded"] += 1
    assert min(ends["refused"], ends["loaded"]) > MUTANTS // 100, ends


@pytest.mark.parametrize("text", GOOD, ids=range(len(GOOD)))
def test_the_good_files_are_good(text: str) -> None:
    assert faults_of(read_text(text, FILE)) == []


def test_the_good_files_have_every_option_and_one_of_them_is_loaded() -> None:
    assert len(GOOD) >= 9
    assert refusal(read_text(RICH, FILE)) == ()
    used = {entry["use"]: entry for entry in yaml.safe_load(every_option())["guards"]}
    assert used
    assert all(
        {field.encode_name for field in one.fields} < set(used[one.tag]) for one in entries()
    )
