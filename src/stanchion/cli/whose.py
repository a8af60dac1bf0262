"""Whose state a command is about: the project of the current folder, or what is named instead."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from stanchion.audit.layout import STATE_DIR
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.runtime.standing.places import STORE, USER, StateFinder, is_own, start_of
from stanchion.runtime.standing.tenancy import TENANT


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


def named_project(args: argparse.Namespace) -> dict[str, str]:
    """What a shield is to be told of the project that was named."""
    whose(args.project, args.store)
    return {} if args.project is None else {"project": args.project}


def told(args: argparse.Namespace) -> str:
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
