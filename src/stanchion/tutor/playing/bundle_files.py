"""Files of bundles: read whole or not at all, and frozen."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import yaml

from stanchion.policy.composed import read_text
from stanchion.tutor.bundles.file import (
    HASH,
    Bundle,
    BundleFault,
    BundleFile,
    BundleRefusal,
    BundleRefused,
)
from stanchion.tutor.bundles.reading import bundle_of, freeze, read_frozen
from stanchion.tutor.bundles.scope import Use, unfit

LARGEST: Final = 1 << 20
ENDINGS: Final = (".json", ".yaml", ".yml")

Refused = Literal["baseline", "stop"]
"""What a run does whose bundle is refused: it goes on without one, or it does not begin."""


class ChosenBundle(msgspec.Struct, frozen=True):
    """The bundle that a run plays by, or why it plays by none."""

    bundle: Bundle | None = None
    file: BundleFile | None = None
    refusal: BundleRefusal | None = None


def choose_bundle(path: str | Path, use: Use, refused: Refused = "stop") -> ChosenBundle:
    """The bundle of a file, for one use. One that is refused raises `BundleRefused`, or leaves the
    run at baseline."""
    found = load_bundle(path)
    why = found if isinstance(found, BundleRefusal) else unfit(found, use)
    if isinstance(found, BundleFile) and why is None:
        return ChosenBundle(bundle_of(found), found)
    assert isinstance(why, BundleRefusal)  # what is no bundle is one
    if refused == "stop":
        raise BundleRefused(BundleRefusal(why.reason, f"{path}: {why.why}"))
    return ChosenBundle(refusal=why)


def load_bundle(path: str | Path) -> BundleFile | BundleRefusal:
    """The frozen bundle of a file, whatever it is for."""
    data = read_data(Path(path))
    return data if isinstance(data, BundleRefusal) else read_frozen(data)


def freeze_bundle(path: str | Path, to: str | Path) -> str | BundleRefusal:
    """Write a copy of a bundle with its hash, as JSON, and give the hash. If anything else is wrong
    with it, that is said instead. What is there already is not written over: a frozen bundle stays
    as it is. Raises `OSError` where it cannot be written, and `ValueError` for a file that does not
    end in `.json`."""
    target = Path(to)
    if target.suffix != ".json":
        raise ValueError(f"`{to}` does not end in `.json`: a frozen bundle is written as JSON")
    data = read_data(Path(path))
    frozen = data if isinstance(data, BundleRefusal) else freeze(data)
    if isinstance(frozen, BundleRefusal):
        return frozen
    with target.open("x", encoding="utf-8") as written:
        written.write(json.dumps(frozen, indent=2, ensure_ascii=False) + "\n")
    return str(frozen[HASH])


def read_data(path: Path) -> Any:
    """What stands in a file, as plain data, or a `BundleRefusal`."""
    if path.suffix not in ENDINGS:
        return BundleRefusal(BundleFault.UNREADABLE, f"it ends in none of {', '.join(ENDINGS)}")
    try:
        text = text_of(path)
    except OSError as error:
        return BundleRefusal(BundleFault.UNREADABLE, f"it cannot be read: {_why(error)}")
    except UnicodeDecodeError:
        return BundleRefusal(BundleFault.UNREADABLE, "it cannot be read: it is not UTF-8")
    if isinstance(text, BundleRefusal):
        return text
    return _json(text) if path.suffix == ".json" else _yaml(text, str(path))


def text_of(path: Path) -> str | BundleRefusal:
    """The text of a plain file: anything else may be endless, and is not opened for long. Raises
    `OSError`, and `UnicodeDecodeError` for what is no text."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return BundleRefusal(BundleFault.UNREADABLE, "it is not a plain file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        return BundleRefusal(BundleFault.TOO_LARGE, f"it has more than {LARGEST >> 20} MiB")
    return data.decode("utf-8")


class _Twice(ValueError):
    pass


def _json(text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in pairs:
            if name in made:
                raise _Twice(f"`{name}` is there twice")
            made[name] = value
        return made

    try:
        return json.loads(text, object_pairs_hook=unique)
    except _Twice as error:
        return BundleRefusal(BundleFault.DUPLICATE_KEY, str(error))
    except RecursionError:
        return BundleRefusal(
            BundleFault.UNREADABLE, "it is not JSON that can be read: it is too deep"
        )
    except ValueError as error:
        return BundleRefusal(BundleFault.UNREADABLE, f"it is not JSON, or was cut off: {error}")


def _yaml(text: str, origin: str) -> Any:
    marked = _marked(text)
    if marked:
        return BundleRefusal(BundleFault.ALIASES, f"{marked}: a bundle has everything written out")
    document = read_text(text, origin)
    if document.faults:
        said = str(document.faults[0])
        twice = "appears here a second time" in said
        return BundleRefusal(BundleFault.DUPLICATE_KEY if twice else BundleFault.UNREADABLE, said)
    return document.root.data()


def _marked(text: str) -> str:
    """The first anchor or alias of a text, with its line; empty where there is none, or no YAML."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            name = getattr(event, "anchor", None)
            if name is not None:
                sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
                return f"line {event.start_mark.line + 1} has `{sign}{name}`"
    except (yaml.YAMLError, ValueError):
        pass  # reading it says what is wrong
    return ""


def _why(error: OSError) -> str:
    return error.strerror.lower() if error.strerror else type(error).__name__
