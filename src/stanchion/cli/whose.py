"""Whose state a command is about, and the store that it looks into."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stanchion.audit.layout import STATE_DIR
from stanchion.cli.command import Args, AsBadInput, BadInput
from stanchion.cli.terminal import note, visible
from stanchion.kernel.state import StoreLost
from stanchion.runtime.standing.places import (
    MEMORY,
    STORE,
    USER,
    StateFinder,
    is_own,
    start_of,
    store_name,
)
from stanchion.runtime.standing.tenancy import TENANT
from stanchion.stores.memory import wall_ms
from stanchion.stores.open_store import file_of, is_server, open_store
from stanchion.stores.protocol import Store, StoreError


def whose(project: str | None, store: str | None = None, files: Sequence[Path] = ()) -> StateFinder:
    """Whose state is meant: that of a project which is named, of a policy's files, or of the
    current folder. What can not be meant together is bad input."""
    if project is not None:
        named = os.environ.get(STORE, "") if store is None else store
        if named == USER:
            raise BadInput(
                f"`--project {project}` is one project, and the store `{USER}` is shared by all: "
                f"give one of them"
            )
        if os.environ.get(STATE_DIR, ""):
            raise BadInput(
                f"{STATE_DIR} names one state for everything: unset it, or leave `--project "
                f"{project}` out"
            )
    with AsBadInput(OSError):
        return StateFinder(os.environ, start_of(project, files), store)


def named_project(args: Args) -> dict[str, str]:
    """What a shield is to be told of the project that was named."""
    whose(args.project, args.store)
    return {} if args.project is None else {"project": args.project}


def lasting(policy: str) -> str:
    """A policy as another program finds it: a file by its whole path."""
    return str(Path(policy).resolve()) if Path(policy).is_file() else policy


def told(args: Args) -> str:
    """Whose state a command has changed, in words; empty where it was asked for by its place."""
    if not is_own(args.store, os.environ):
        return ""
    with AsBadInput(OSError):
        state = whose(args.project, args.store).state
    if state.root is not None:
        return f" in the project `{state.root}`"
    return " for all projects that share the user's state" if state.why == "shared" else ""


def tenant_of(named: str | None) -> str | None:
    """The tenant that a list is about, by its option or by the environment; `None` for all, which
    `*` asks for."""
    found = os.environ.get(TENANT, "").strip() if named is None else named
    return None if found in ("", "*") else found


NAMED: Final = 3
"""How many other projects are named where nothing is kept of one."""


def elsewhere(found: StateFinder) -> str:
    """Where else something is kept, in words; empty where nothing is."""
    from stanchion.ops.views.veiled import veiled  # most commands find what they look for
    from stanchion.ops.views.where import kept_elsewhere

    others = veiled(kept_elsewhere(found, os.environ))
    if not others:
        return ""
    more = f" and {len(others) - NAMED:,} more" if len(others) > NAMED else ""
    named = ", ".join([f"`{visible(one)}`" for one in others[:NAMED]])
    return f"; something is kept of {named}{more}: go there, or give one with `--project DIR`"


CHECKS: Final = "checks"
"""The folder of that trail, in that of the state."""


def checks_folder(found: StateFinder) -> Path:
    """The folder; `OSError` where there is no such place."""
    return found.state.folder / CHECKS


class StoreAway(BadInput):
    """The store that was named cannot be read now: its server does not answer, or its file is
    broken."""


@contextmanager
def opened(given: str | None, found: StateFinder, quiet: bool = False) -> Iterator[Store | None]:
    """The store, open for reading; `None`, and a word on standard error why, where there is nothing
    to read yet; no word where nobody asked for the store (`quiet`). `StoreAway` where it cannot be
    read, and `BadInput` where there can be no such store."""
    with AsBadInput(OSError):
        name = str(store_name(given, os.environ, found))
    try:
        why = _nothing_in(name)
        if why and quiet:
            yield None
            return
        if why:
            # Not among the answers: programs that read lines of JSON get none.
            note(f"{why}{elsewhere(found) if is_own(given, os.environ) else ''}")
            yield None
            return
        store = open_store(name, wall_ms, reading=True)
        try:
            yield store
        finally:
            store.close()
    except (StoreError, StoreLost) as error:
        is_store = file_of(name) is not None or is_server(name)
        raise (StoreAway if is_store else BadInput)(str(error)) from None


def in_memory(given: str | None, found: StateFinder) -> bool:
    """Whether the store that is meant is one that no other process can see."""
    return str(store_name(given, os.environ, found)) == MEMORY


def _nothing_in(name: str) -> str:
    if name == MEMORY:
        return (
            "state is kept in memory: only the process that has it can see it, and it ends with "
            "the process"
        )
    path = file_of(name)
    if path is None:
        return ""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return f"nothing is kept yet: `{path}` is created by the first shield that uses it"
    except OSError as error:
        raise BadInput(f"the store `{path}` cannot be read: {error.strerror}") from None
    return ""
