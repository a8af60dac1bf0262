"""`stanchion mcp wrap` and `unwrap`: put the servers of a client behind the proxy, and take them out again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from stanchion.adapters.mcp.wrapping import NoServers, Rewritten, unwrapped, wrapped
from stanchion.cli.parser import Parser
from stanchion.cli.terminal import put, visible
from stanchion.cli.trouble import BadInput

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
    path = Path(args.file)
    try:
        # Bytes as they are: line ends included.
        text = path.read_bytes().decode()
        if verb == "wrap":
            made = wrapped(text, [sys.executable, "-m", "stanchion"], ["--policy", _lasting(args.policy)], args.only)
            _keep(path, text, made)
        else:
            made = _restored(path, text)
    except NoServers as error:
        raise BadInput(f"`{args.file}` cannot be rewritten: {error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"`{args.file}` cannot be rewritten: it is not text") from None
    except OSError as error:
        raise BadInput(f"`{args.file}` cannot be rewritten: {error.strerror}") from None
    _tell(verb, made)
    return 0


def _lasting(policy: str) -> str:
    """A policy as another program finds it: a file by its whole path."""
    return str(Path(policy).resolve()) if Path(policy).is_file() else policy


def _keep(path: Path, text: str, made: Rewritten) -> None:
    if not made.changed:
        return
    before = path.with_name(path.name + BEFORE)
    if not before.exists():
        _write(before, text, path)
    _write(path, made.text, path)


def _restored(path: Path, text: str) -> Rewritten:
    """The configuration as it was: to the letter where nothing but the proxy has changed since."""
    made = unwrapped(text)
    before = path.with_name(path.name + BEFORE)
    if before.exists():
        old = before.read_bytes().decode()
        if unwrapped(old).text == made.text or _same(old, made.text):
            made = made._replace(text=old)
            before.unlink()
    if made.changed:
        _write(path, made.text, path)
    return made


def _same(one: str, other: str) -> bool:
    """Whether two configurations have the same servers, with the same commands."""
    plain = [wrapped(text, ["x"], []).text for text in (one, other)]
    return plain[0] == plain[1]


def _write(path: Path, text: str, like: Path) -> None:
    """Write a file as readable as another, whole or not at all: it may hold keys of servers."""
    new = path.with_name(path.name + ".new")
    mode = like.stat().st_mode & 0o777
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(text.encode())
        os.fchmod(file.fileno(), mode)
    new.replace(path)


def _tell(verb: str, made: Rewritten) -> None:
    done = "behind Stanchion now" if verb == "wrap" else "as it was"
    for name in made.changed:
        put(sys.stdout, f"{visible(name)}: {done}")
    for name in made.strangers:
        put(sys.stdout, f"{visible(name)}: if it wants a login, set a header with its token first")
    for name, why in made.left.items():
        put(sys.stdout, f"{visible(name)}: left as it is, {why}")
    if made.changed:
        put(sys.stdout, "restart the client to make it so")
