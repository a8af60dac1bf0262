"""`stanchion runs manifest` and `verify`: what a run was made of, in one file, and whether such a
file was changed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.audit.manifest_check import NoManifest, read
from stanchion.audit.reader import TrailReader
from stanchion.cli.printing import put_json
from stanchion.cli.progress import progress
from stanchion.cli.terminal import put_line, tell
from stanchion.cli.trails import reader_of
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import whose
from stanchion.kernel.shown import json_safe
from stanchion.ops.views.encode import json_line
from stanchion.ops.views.manifests import ManifestView, checked, run_manifest

CHANGED: Final = 1


def manifest(args: argparse.Namespace) -> int:
    """Make the manifest of a run."""
    reader = reader_of(args.trail, whose(args.project))
    with progress("looking") as done:
        made = run_manifest(reader, args.id, done)
    if made is None:
        raise BadInput(
            f"there is no run `{args.id}` in `{reader.folder}`: `stanchion runs` lists the newest"
        )
    if args.out is not None:
        _write(Path(args.out), made)
        tell(f"wrote {args.out}")
        return 0
    sys.stdout.buffer.write(json_line(made) if args.json else _pages(made))
    return 0


def _pages(made: dict[str, Any]) -> bytes:
    return json_safe(msgspec.json.format(msgspec.json.encode(made), indent=2)) + b"\n"


def _write(target: Path, made: dict[str, Any]) -> None:
    try:
        with target.open("xb") as file:
            file.write(_pages(made))
    except FileExistsError:
        raise BadInput(f"`{target}` already exists: use another file") from None
    except OSError as error:
        raise BadInput(f"`{target}` cannot be written: {error.strerror}") from None


def verify(args: argparse.Namespace) -> int:
    """Say which fields of a manifest, and which files that it names, are not as they were."""
    try:
        data = read(args.id)
    except NoManifest as error:
        raise BadInput(f"`{args.id}`: {error}") from None
    reader = _reader(args)
    with progress("looking") as done:
        found = checked(data, reader, Path(args.id).parent, done)
    if args.json:
        put_json(found)
    else:
        _tell(found)
    return 0 if found.whole else CHANGED


def _reader(args: argparse.Namespace) -> TrailReader | None:
    """The trail that was named, or the project's where there is one."""
    try:
        return reader_of(args.trail, whose(args.project))
    except BadInput:
        if args.trail is not None:
            raise
        return None


def _tell(found: ManifestView) -> None:
    for one in found.wrong:
        put_line(f"{one.field}: {one.why}")
    if found.known is None:
        put_line(
            "note: there is no trail to hold it against: it was held against its own hashes",
        )
    elif not found.known:
        put_line("note: the trail does not know it: it was held against its own hashes")
    fields = "1 field" if len(found.wrong) == 1 else f"{len(found.wrong)} fields"
    put_line("whole" if found.whole else f"not whole: {fields} changed")
