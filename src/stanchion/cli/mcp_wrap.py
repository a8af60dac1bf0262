"""`stanchion mcp wrap` and `unwrap`: put the servers of a client behind the proxy, and take them
out again."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from stanchion.cli.parser import Parser
from stanchion.cli.terminal import put_line, visible
from stanchion.cli.trouble import BadInput
from stanchion.hosts.mcp.wrapping import NoServers, Rewritten, has_wrapped, unwrapped, wrapped
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy

MARK: Final = "\ufeff"
BEFORE: Final = ".before-stanchion"
"""What the name of the file ends with that keeps a configuration as it was."""


def rewrite(words: list[str], policy: str) -> int:
    """Rewrite a file as the words say; gives the exit status."""
    verb = words[0]
    parser = Parser(prog=f"stanchion mcp {verb}")
    parser.add_argument("file", metavar="FILE")
    if verb == "wrap":
        parser.add_argument("--policy", metavar="POLICY", default=policy)
        parser.add_argument("--only", metavar="NAME", action="append", default=[])
    args, extra = parser.parse_known_args(words[1:])
    if extra:
        parser.unknown(extra)
    try:
        # A link leads to the file that is meant; bytes stay as they are, line ends included.
        path = Path(args.file).resolve(strict=True)
        mark, text = _text(path)
        made = _wrap(path, mark, text, args) if verb == "wrap" else _unwrap(path, mark, text)
    except NoServers as error:
        raise BadInput(f"`{args.file}` cannot be rewritten: {error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"`{args.file}` cannot be rewritten: it is not text in UTF-8") from None
    except OSError as error:
        raise BadInput(f"`{args.file}` cannot be rewritten: {error.strerror}") from None
    _tell(verb, made)
    return 0


def _text(path: Path) -> tuple[str, str]:
    """The mark that a file begins with, if it has one, and the text behind it."""
    text = path.read_bytes().decode()
    return (MARK, text[1:]) if text.startswith(MARK) else ("", text)


def _wrap(path: Path, mark: str, text: str, args: argparse.Namespace) -> Rewritten:
    policy = _lasting(args.policy)
    try:
        load_policy(policy)
    except PolicyError as error:
        raise BadInput(*str(error).splitlines()) from None
    made = wrapped(text, [sys.executable, "-m", "stanchion"], ["--policy", policy], args.only)
    if made.changed:
        # What was behind the proxy already is kept as it was before that.
        _write(_kept(path), mark + unwrapped(text, _before(path)).text, path)
        _write(path, mark + made.text, path)
    return made


def _unwrap(path: Path, mark: str, text: str) -> Rewritten:
    made = unwrapped(text, _before(path))
    if made.changed:
        _write(path, mark + made.text, path)
    # Nothing is left that it could put back, and there may be tokens in it.
    _kept(path).unlink(missing_ok=True)
    return made


def _kept(path: Path) -> Path:
    return path.with_name(path.name + BEFORE)


def _before(path: Path) -> str:
    """The configuration as it was; empty where that is not known, or of no use."""
    try:
        text = _text(_kept(path))[1]
        has_wrapped(text)
    except (OSError, UnicodeDecodeError, NoServers):
        return ""
    return text


def _lasting(policy: str) -> str:
    """A policy as another program finds it: a file by its whole path."""
    return str(Path(policy).resolve()) if Path(policy).is_file() else policy


def _write(path: Path, text: str, like: Path) -> None:
    """Write a file as readable as another, whole or not at all: it may hold keys of servers."""
    new = path.with_name(path.name + ".new")
    mode = like.stat().st_mode & 0o777
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(text.encode())
        os.fchmod(file.fileno(), mode)
    new.replace(path)


def _tell(verb: str, made: Rewritten) -> None:
    for name in made.changed:
        put_line(f"{visible(name)}: {_done(verb, name in made.anew)}")
    for name in made.strangers:
        put_line(f"{visible(name)}: if it wants a login, set a header with its token first")
    for name, why in made.left.items():
        put_line(f"{visible(name)}: left as it is, {why}")
    if made.changed:
        put_line("restart the client to make it so")


def _done(verb: str, anew: bool) -> str:
    if verb == "wrap":
        return "behind Stanchion now"
    return (
        "no longer behind Stanchion; it was changed since, so it is written anew"
        if anew
        else "as it was"
    )
