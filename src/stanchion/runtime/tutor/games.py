"""Files of games: what is to be found out, by which commands, under which law."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml

from stanchion.readings.claims.claim import Claim, fault
from stanchion.runtime.tutor.runners import PROGRAMS
from stanchion.tutor.rules.bash import bash_rules
from stanchion.tutor.rules.library import RuleLibrary
from stanchion.tutor.rules.reading import RuleError, read_rules

LARGEST = 1 << 20


class GameError(ValueError):
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


def load_game(path: str | Path) -> Game:
    """Read a file of a game; raises `GameError`."""
    data = _yaml(Path(path))
    try:
        game = msgspec.convert(data, Game)
    except msgspec.ValidationError as error:
        raise GameError(f"{path}: {error}") from None
    if not game.claims:
        raise GameError(f"{path}: `claims` is empty: name what has to be proven")
    for claim in game.claims:
        wrong = fault(claim)
        if wrong:
            raise GameError(f"{path}: {claim.text}: {wrong}")
    return game


def load_rules(path: str | Path | None = None) -> RuleLibrary:
    """The rules of a file, or of all `*.rules.yaml` in a folder; without one those about shell commands."""
    if path is None:
        return bash_rules()
    place = Path(path)
    files = sorted(place.glob("*.rules.yaml")) if place.is_dir() else [place]
    library = RuleLibrary()
    for file in files:
        try:
            library.add(read_rules(_yaml(file), str(file)))
        except RuleError as error:
            raise GameError(str(error)) from None
    return library


def _yaml(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST:
            raise GameError(f"{path}: a file of a game has at most {LARGEST >> 20} MiB")
        return yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise GameError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise GameError(f"{path}: it is no YAML: {said}") from None
