"""Files of games: what is to be found out, by which commands, under which law."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from stanchion.kernel.shown import StanchionError
from stanchion.policy.composed import read_text
from stanchion.policy.document import Document
from stanchion.policy.errors import PolicyError
from stanchion.policy.struct_check import convert
from stanchion.readings.claims.claim import Claim, fault
from stanchion.tutor.bundles.file import BundleRefusal
from stanchion.tutor.playing.bundle_files import text_of
from stanchion.tutor.playing.runners import PROGRAMS
from stanchion.tutor.rules.bash import bash_rules
from stanchion.tutor.rules.rule import RuleError, RuleLibrary, read_rules
from stanchion.tutor.rules.typed import TypedRule, read_typed_rules

R = TypeVar("R")


class GameError(StanchionError, ValueError):
    """What is wrong with a file of a game or of rules."""


class Game(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A game as its file says it."""

    name: str
    goal: str
    claims: tuple[Claim, ...]
    """What has to be proven for the goal to be reached."""
    programs: tuple[str, ...] = PROGRAMS
    writes: bool = False
    turns: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 50
    rules: str = ""
    """A file or folder of typed rules, seen from the game's own."""


def load_game(path: str | Path) -> Game:
    """Read a file of a game; raises `GameError`."""
    game = read_as(path, Game)
    if not game.claims:
        raise GameError(f"{path}: `claims` is empty: name what has to be proven")
    for claim in game.claims:
        wrong = fault(claim)
        if wrong:
            raise GameError(f"{path}: {claim.text}: {wrong}")
    return game


def load_rules(path: str | Path | None = None) -> RuleLibrary:
    """The rules of a file, or of all `*.rules.yaml` in a folder; without one those about shell
    commands."""
    if path is None:
        return bash_rules()
    library = RuleLibrary()
    for file in _files(Path(path)):
        library.add(_read(file, read_rules))
    return library


def load_typed_rules(path: str | Path) -> tuple[TypedRule, ...]:
    """The typed rules of a file, or of all `*.rules.yaml` in a folder; raises `GameError`."""
    found: dict[str, TypedRule] = {}
    files = _files(Path(path))
    if not files:
        raise GameError(f"{path}: there is no `*.rules.yaml` in this folder")
    for file in files:
        for rule in _read(file, read_typed_rules):
            if rule.id in found:
                raise GameError(
                    f"{file}: `{rule.id}` is a rule of another file, too: give each rule an id of "
                    f"its own"
                )
            found[rule.id] = rule
    return tuple(found.values())


def rules_of(game: Game, path: str | Path) -> tuple[TypedRule, ...]:
    """The typed rules that a game names, whose file is at a path."""
    return load_typed_rules(Path(path).parent / game.rules) if game.rules else ()


def _files(place: Path) -> list[Path]:
    return sorted(place.glob("*.rules.yaml")) if place.is_dir() else [place]


def _read(file: Path, read: Callable[[Any, str], tuple[R, ...]]) -> tuple[R, ...]:
    try:
        return read(plain_of(file), str(file))
    except RuleError as error:
        raise GameError(" ".join(str(error).split())) from None


def plain_of(path: str | Path) -> Any:
    """What stands in a file of a game, as plain data; raises `GameError`."""
    return _document(path).root.data()


def read_as(path: str | Path, kind: type[R]) -> R:
    """What stands in a file of that kind; raises `GameError` with the first mistake, where it is,
    and what to write."""
    try:
        return convert(_document(path), kind)
    except PolicyError as error:
        raise GameError(" ".join(str(error.faults[0]).split())) from None


def _document(path: str | Path) -> Document:
    try:
        text = text_of(Path(path))
    except OSError as error:
        raise GameError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise GameError(f"{path}: it is no YAML: {error}") from None
    if isinstance(text, BundleRefusal):
        raise GameError(f"{path}: {text.why}")
    document = read_text(text, str(path))
    if document.faults:
        raise GameError(
            f"{path}: it is no YAML that can be read: {' '.join(str(document.faults[0]).split())}"
        )
    return document
