"""The user's folders: where what belongs to one user is kept, by the conventions of the system.

`platformdirs` knows them for every system. Loading it takes longer than a whole check of one event,
so what it says on an ordinary Linux is said here, and it is asked about everything else; a test
holds both equal.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

APP = "stanchion"
KEY_SIZE = 32


def user_config() -> str:
    """The folder of the user's configuration."""
    found = _plainly("XDG_CONFIG_HOME", "/.config")
    if found is None:
        import platformdirs

        return platformdirs.user_config_dir(APP)
    return found


def user_state() -> str:
    """The folder of the user's state."""
    found = _plainly("XDG_STATE_HOME", "/.local/state")
    if found is None:
        import platformdirs

        return platformdirs.user_state_dir(APP)
    return found


def kept_key(file: Path) -> bytes:
    """The key that a file keeps, made where there is none; `OSError` where it cannot be read or is
    none. Nobody ever sees half of one."""
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = file.with_name(f".{file.name}-{os.urandom(8).hex()}")
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
            new.write(os.urandom(KEY_SIZE))
            new.flush()
            os.fsync(new.fileno())
        with suppress(FileExistsError):
            os.link(made, file)
        made.unlink()
    key = file.read_bytes()
    if len(key) != KEY_SIZE:
        raise OSError(f"`{file}` is not a key: remove it, which ends what was made with it")
    return key


def _plainly(variable: str, below_home: str) -> str | None:
    """What a variable of the XDG conventions names, or the usual place below the home folder;
    `None` where neither is an absolute path, or the system has conventions of its own."""
    if (
        sys.platform != "linux"
        or hasattr(sys, "getandroidapilevel")
        or "ANDROID_DATA" in os.environ
    ):
        return None
    named, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
    if named.startswith("/"):
        return os.path.join(named, APP)
    return os.path.join(home.rstrip("/") + below_home, APP) if home.startswith("/") else None
