"""`stanchion tutor bundle`: look at a bundle, or freeze one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from stanchion.cli.terminal import put_lines, tell
from stanchion.cli.trouble import BadInput
from stanchion.tutor.bundles.file import BundleFile, BundleRefusal
from stanchion.tutor.playing.bundle_files import freeze_bundle, load_bundle


def run(args: argparse.Namespace) -> int:
    """Say what a frozen bundle is for, or freeze one; one that is refused is bad input."""
    if args.freeze is not None:
        made = _frozen(args.game, args.freeze)
        if isinstance(made, BundleRefusal):
            raise BadInput(f"`{args.game}` is not frozen ({made.reason.value}): {made.why}")
        tell(f"wrote {args.freeze}: {made}")
        return 0
    found = load_bundle(args.game)
    if isinstance(found, BundleRefusal):
        raise BadInput(f"`{args.game}` is refused ({found.reason.value}): {found.why}")
    put_lines(_lines(found))
    return 0


def _frozen(draft: str, to: str) -> str | BundleRefusal:
    try:
        return freeze_bundle(draft, to)
    except FileExistsError:
        raise BadInput(f"`{to}` already exists: use another file") from None
    except OSError as error:
        reason = error.strerror.lower() if error.strerror else type(error).__name__
        raise BadInput(f"`{to}` cannot be written: {reason}") from None
    except ValueError as error:
        raise BadInput(str(error)) from None


def _lines(bundle: BundleFile) -> Iterator[str]:
    yield f"{bundle.bundle_id or 'a bundle'}, version {bundle.bundle_version}"
    yield f"hash         {bundle.bundle_hash}"
    if bundle.scope is not None:
        for name in ("games", "models", "laws"):
            yield f"{name:<12} {', '.join(getattr(bundle.scope, name))}"
    prompts = [
        name
        for name in bundle.prompts.__struct_fields__
        if getattr(bundle.prompts, name) is not None
    ]
    yield f"prompts      {', '.join(prompts) or 'none'}"
    yield f"exemplars    {len(bundle.exemplars)}"
    yield f"temperature  {bundle.model_params.temperature:g}"
