"""Found policies: the user's own, and over it those of a project, of which only what tightens
counts without trust."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.policy.compile import compile_policy
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.document import Document, in_order
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.load import Read, Reading, compile_document, policy_file, read_policy
from stanchion.policy.loosening import Loosening, loosenings
from stanchion.policy.overlay import environment, overlay
from stanchion.policy.tighter import tightened, without_words
from stanchion.policy.whereabouts import own_policy, project_policies, project_root

Trusts = Callable[[str, CompiledPolicy], bool]
"""Whether an operator trusts a policy, by its hash."""

PACK: Final = "default"
"""What stands below a project's policies where the user has none."""


class FoundFile(NamedTuple):
    """A policy of a project: its file, its own hash, whether it is trusted, and what of it was left
    out."""

    file: Path
    hash: str
    trusted: bool
    left_out: tuple[Loosening, ...] = ()


class Found(NamedTuple):
    """What counts in a folder: a document with none of the code run that it names, and where it
    comes from."""

    seen: CompiledPolicy
    document: Document
    base: str
    files: tuple[FoundFile, ...]

    def policy(self) -> CompiledPolicy:
        """The policy to put in force; the code that it names is that of the user and of trusted
        files."""
        return compile_document(self.document, self.seen.files)


def nobody(_policy_hash: str, _policy: CompiledPolicy) -> bool:
    """Trusts nothing."""
    return False


def find_policy(
    folder: Path | None = None,
    env: str | None = None,
    trusts: Trusts = nobody,
    own: Path | None = None,
) -> Found:
    """The user's own policy, or the pack `default`, with the policies of the project over it, the
    nearest last.

    One that is trusted applies whole. Of any other only what tightens takes effect, and none of its
    code is run. One that cannot be read or is wrong raises `PolicyError`: it may have been there to
    forbid something.
    """
    here = (Path.cwd() if folder is None else folder).resolve()
    mine = own_policy() if own is None else own
    base: str | Path = mine if mine.exists() or mine.is_symlink() else PACK
    read = read_policy(base)
    document, known = _variant(read, env)
    paths = list(read.files)
    seen = compile_document(document, tuple(paths), imports=False)
    files: list[FoundFile] = []
    for path in project_policies(here):
        over = read_policy(path, Reading(project_root(here)))
        part, has = _variant(over, env)
        known = known or has
        paths += over.files
        alone = compile_policy(
            policy_file(part), part.where, over.files, whole=False, imports=False
        )
        trusted = trusts(alone.hash, alone)
        left_out: tuple[Loosening, ...] = ()
        if not trusted:
            part, left_out = without_words(part)
        # Laid over as it is it has to be right, whatever of it will count.
        whole = _laid(document, part, tuple(paths))
        if trusted or not loosenings(seen, whole.policy):
            document, seen = whole
        else:
            document, more = tightened(document, part, tuple(paths))
            left_out += more
            below, seen = seen, compile_document(document, tuple(paths), imports=False)
            if loosenings(below, seen):
                raise PolicyError(
                    [
                        Fault(
                            str(path),
                            "it cannot be determined which parts of it tighten: have an operator "
                            "trust it",
                        )
                    ]
                )
        files.append(FoundFile(path, alone.hash, trusted, left_out))
    if env is not None and not known:
        raise PolicyError(list(environment(read.whole, env).faults))
    return Found(
        seen, document, str(base) if isinstance(base, Path) else f"pack {base}", tuple(files)
    )


class _Laid(NamedTuple):
    document: Document
    policy: CompiledPolicy


def _laid(under: Document, over: Document, files: tuple[Path, ...]) -> _Laid:
    merged = overlay(under, over)
    if merged.faults:
        raise PolicyError(in_order(list(merged.faults)))
    return _Laid(merged, compile_document(merged, files, imports=False))


def _variant(read: Read, env: str | None) -> tuple[Document, bool]:
    """A policy in an environment, and whether it has that; without it where it has not."""
    has = env in read.variants
    return read.variants[env if has else None], has
