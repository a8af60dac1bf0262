"""Words that fresh rows are made of: names of people's machines, projects and files; nothing here
is anybody's."""

from __future__ import annotations

from random import Random
from typing import Final

ADJECTIVES: Final = (
    "amber", "brisk", "calm", "dusty", "early", "faint", "gentle", "hollow", "ivory", "jolly",
    "lunar", "mellow", "nimble", "olive", "quiet",
)  # fmt: skip
NOUNS: Final = (
    "anchor", "basin", "cedar", "delta", "ember", "forge", "glacier", "harbor", "inlet", "kettle",
    "lantern", "meadow", "orchard", "pebble",
)  # fmt: skip
THINGS: Final = (
    "billing", "catalog", "checkout", "customer", "export", "import", "invoice", "ledger",
    "metrics", "order", "parser", "report", "search",
)  # fmt: skip
ZONES: Final = ("example", "invalid", "test")
SUFFIXES: Final = (
    "py",
    "ts",
    "go",
    "rs",
    "md",
    "json",
    "yaml",
    "sql",
    "c",
    "rb",
    "txt",
    "csv",
    "html",
    "toml",
)
FOLDERS: Final = (
    "src",
    "tests",
    "docs",
    "scripts",
    "lib",
    "app",
    "pkg",
    "internal",
    "web",
    "data",
    "examples",
)
HEX: Final = "0123456789abcdef"


def name(random: Random) -> str:
    """A name of two words."""
    return f"{random.choice(ADJECTIVES)}-{random.choice(NOUNS)}"


def word(random: Random) -> str:
    """One word."""
    return random.choice(NOUNS + THINGS)


def user(random: Random) -> str:
    """A user's name on a machine."""
    return f"{random.choice(NOUNS)}{random.randint(1, 99)}"


def host(random: Random) -> str:
    """A host that nobody has."""
    return f"{name(random)}.{random.choice(ZONES)}"


def address(random: Random) -> str:
    """An address of a documentation range."""
    return f"{random.choice(('192.0.2', '198.51.100', '203.0.113'))}.{random.randint(2, 250)}"


def file(random: Random) -> str:
    """A file of a project, relative to it."""
    depth = random.randint(1, 3)
    folders = [random.choice(FOLDERS), *[word(random) for _ in range(depth - 1)]]
    return "/".join([*folders, f"{random.choice(THINGS)}_{word(random)}.{random.choice(SUFFIXES)}"])


def token(random: Random, alphabet: str, length: int) -> str:
    """So many characters of an alphabet."""
    return "".join([random.choice(alphabet) for _ in range(length)])
