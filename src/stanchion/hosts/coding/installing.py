"""Hooks put into the settings of coding agents, and taken out again as if they had never been
there."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from stanchion import typed
from stanchion.hosts.coding.settings import CLIENT, BadSettings, with_hooks
from stanchion.hosts.foreign_file import ForeignFile, read_foreign, write_foreign
from stanchion.hosts.json_text import NotJson, read_json, rewritten
from stanchion.hosts.mcp.client_config import unwrapped, wrapped
from stanchion.kernel.regex import regex

RECORDS: Final = "installed"
ONLY_JSON: Final = "allowManagedHooksOnly"
ONLY_TOML: Final = "allow_managed_hooks_only"
FOLDER: Final = str(CLIENT.parent)


class InstallRecord(Struct, frozen=True):
    """What a file was before it was first changed, and the mark of what was made of it."""

    path: str
    before: bytes | None
    after: str
    folder_made: bool = False


_RECORD: Final = typed.reader(InstallRecord)


class SettingsChange(Struct, frozen=True):
    """A file, and what is to be in it: `None` where it is to go. `record` is kept until it is as
    it was."""

    file: ForeignFile
    new: bytes | None
    record: InstallRecord | None

    @property
    def changes(self) -> bool:
        """Whether the file is not so already."""
        return self.new != self.file.raw

    def diff(self) -> list[str]:
        """What becomes of the file, line by line."""
        old, new = [
            [] if raw is None else raw.decode().splitlines() for raw in (self.file.raw, self.new)
        ]
        name = str(self.file.path)
        return list(difflib.unified_diff(old, new, name, name, lineterm="", n=2))

    def carry_out(self, state: Path, mode: int) -> None:
        """Write it; raises `FileChanged` where the file is not the one that was read. What the file
        was is kept before that."""
        record, folder = _record_file(state, self.file.path), self.file.path.parent
        if self.record is not None:
            for private in (state, record.path.parent):
                private.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not folder.exists():
                folder.mkdir(parents=True)
                # Whatever the umask is: who may read the file finds it.
                folder.chmod(mode | (mode & 0o444) >> 2)
            write_foreign(record, msgspec.json.encode(self.record))
        if self.changes:
            write_foreign(self.file, self.new, mode)
        if self.record is None:
            old = _record(state, self.file.path)
            record.path.unlink(missing_ok=True)
            if old is not None and old.folder_made:
                with suppress(OSError):
                    folder.rmdir()


class SettingsForm(Struct, frozen=True):
    """What is to be in files of one format: a text with what is ours in it, and one without, by
    what the text was before. Both raise `NotJson` or `BadSettings`."""

    puts: Callable[[str], str]
    takes: Callable[[str, str], str]


def hooks_form(path: Path, hooks: Mapping[str, Any], managed: bool) -> SettingsForm:
    """These hooks, in settings of the format that a path has."""
    if path.suffix == ".toml":
        return SettingsForm(
            lambda text: _in_toml(text, hooks), lambda text, _: _BLOCK.sub("", text)
        )
    return SettingsForm(lambda text: _in_json(text, hooks, managed), _out_of_json)


def servers_form(command: Sequence[str], policy: str) -> SettingsForm:
    """MCP servers that are behind the proxy."""
    return SettingsForm(
        lambda text: wrapped(text, command, ["--policy", policy]).text,
        lambda text, before: unwrapped(text, before).text,
    )


AS_IT_IS: Final = SettingsForm(lambda text: text, lambda text, _: text)
"""A file that only its own program changes."""


def _in_json(text: str, hooks: Mapping[str, Any], managed: bool) -> str:
    text = text if text.strip() else "{}\n"
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        read_json(text)
        raise BadSettings(
            f"its host skips a file that is not plain JSON, and calls no hooks then: take out "
            f"comments and last commas first: {error}"
        ) from None
    only = {ONLY_JSON: True} if managed else {}
    return rewritten(text, with_hooks({**read_json(text), **only}, hooks))


def _out_of_json(text: str, before: str) -> str:
    data, old = with_hooks(read_json(text), {}), read_json(before) if before.strip() else {}
    if with_hooks(old, {}) != old:
        # What it was is not known. Managed settings of others go on to need it, if there are any.
        old = data if "hooks" in data else {}
    data.pop(ONLY_JSON, None)
    if ONLY_JSON in old:
        data[ONLY_JSON] = old[ONLY_JSON]
    return rewritten(text, data)


_BEGINS, _ENDS = "# >>> stanchion", "# <<< stanchion"
_BLOCK: Final = regex(rf"^{_BEGINS}\r?\n.*?^{_ENDS}(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL)


def _in_toml(text: str, hooks: Mapping[str, Any]) -> str:
    """Requirements with hooks in blocks that are marked as ours. `features.hooks` is pinned, since
    an option of Codex switches managed hooks off, too."""
    whole, text = text, _BLOCK.sub("", text)
    old = _toml(text)
    end = "\r\n" if "\r\n" in text else "\n"
    pins = {ONLY_TOML: f"{ONLY_TOML} = true", "features": "features.hooks = true"}
    head = [line for name, line in pins.items() if name not in old]
    theirs = old.get("hooks", {})
    tail = ["[hooks]", f"managed_dir = {_quoted(FOLDER)}"]
    tail = tail if isinstance(theirs, dict) and "managed_dir" not in theirs else []
    for event, group in hooks.items():
        tail += [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]"]
        tail += [f"{name} = {_quoted(one)}" for name, one in group["hooks"][0].items()]
    blocks = [end.join([_BEGINS, *lines, _ENDS, ""]) for lines in (head, tail) if lines]
    if _BLOCK.findall(whole) == blocks:
        return whole
    gap = "" if text.endswith("\n") or not text else end
    made = "".join([*blocks[:-1], text, gap, blocks[-1]])
    with suppress(BadSettings, AttributeError):
        new = _toml(made)
        if new[ONLY_TOML] is True and new["features"].get("hooks") is True:
            return made
    raise BadSettings(
        f"it says something else of hooks: give it `{ONLY_TOML} = true`, `hooks = true` in "
        f"`[features]`, and `managed_dir` in `[hooks]`"
    )


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"it is not TOML: {error}") from None


def _quoted(value: str | int) -> str:
    return json.dumps(value, ensure_ascii=False)


def plan_install(path: Path, form: SettingsForm, state: Path) -> SettingsChange:
    """What is to be done so that a file has what is ours. Raises `BadSettings`."""
    file = read_foreign(path)
    old = _record(state, file.path)
    new = file.bytes_of(_made(file, form.puts))
    if old is None or old.after != _mark(file.raw):
        # Nobody knows it as it was, or others have changed it since: what it would be without ours
        # is what it was.
        bare = _bare(file, form, old)
        folder_made = not file.path.parent.exists() if old is None else old.folder_made
        old = InstallRecord(str(file.path), bare, "", folder_made)
    return SettingsChange(file, new, msgspec.structs.replace(old, after=_mark(new)))


def plan_uninstall(path: Path, form: SettingsForm, state: Path) -> SettingsChange:
    """What is to be done so that a file is as it was: to the letter where nobody else changed it,
    else without what is ours. Raises `BadSettings`."""
    file = read_foreign(path)
    old = _record(state, file.path)
    if old is not None and old.after == _mark(file.raw):
        return SettingsChange(file, old.before, None)
    return SettingsChange(file, _bare(file, form, old), None)


def remember(file: ForeignFile, state: Path) -> None:
    """Keep what a file was that its own program has changed since."""
    now = read_foreign(file.path)
    old = _record(state, file.path)
    if now.raw != file.raw or old is not None:
        before = file.raw if old is None or old.after != _mark(file.raw) else old.before
        made = InstallRecord(str(file.path), before, _mark(now.raw))
        write_foreign(_record_file(state, file.path), msgspec.json.encode(made))


def is_known(path: Path, state: Path) -> bool:
    """Whether it is known what a file was before it was changed for us."""
    return _record(state, read_foreign(path).path) is not None


def _bare(file: ForeignFile, form: SettingsForm, old: InstallRecord | None) -> bytes | None:
    """A file without what is ours."""
    before = file if old is None else ForeignFile(file.path, old.before)
    text = _made(file, lambda text: form.takes(text, before.text)) if file.raw is not None else ""
    if file.raw is None or text == file.text:
        return file.raw
    return (
        None if before.raw is None and "".join(text.split()) in ("{}", "") else file.bytes_of(text)
    )


def _made(file: ForeignFile, make: Callable[[str], str]) -> str:
    try:
        return make(file.text)
    except (NotJson, BadSettings) as error:
        raise BadSettings(f"`{file.path}` is left as it is: {error}") from None
    except UnicodeDecodeError:
        raise BadSettings(f"`{file.path}` is left as it is: it is not text in UTF-8") from None


def _mark(raw: bytes | None) -> str:
    return "" if raw is None else blake2b(raw, digest_size=16).hexdigest()


def _record_file(state: Path, path: Path) -> ForeignFile:
    return read_foreign(state / RECORDS / f"{_mark(os.fsencode(path))}.json")


def _record(state: Path, path: Path) -> InstallRecord | None:
    """What a file was; `None` where that is not known, or can no longer be read."""
    raw = _record_file(state, path).raw
    with suppress(msgspec.MsgspecError):
        return None if raw is None else _RECORD.decode(raw)
    return None
