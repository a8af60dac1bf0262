"""Which systems Stanchion runs on: those whose file locks keep processes apart, and give way when
one dies."""

from __future__ import annotations

from stanchion.kernel.shown import StanchionError


class NoLocks(StanchionError, OSError):
    """This system has not the file locks that state and trail rely on."""


def need_locks() -> None:
    """Raise where the system has no POSIX locks: two processes could then write one trail and spend
    one budget."""
    try:
        import fcntl  # noqa: F401  # only whether it is there
    except ImportError:
        raise NoLocks(
            "Stanchion needs the file locks of a POSIX system (`fcntl`), which are missing here: "
            "run it on Linux; "
            "on Windows, in WSL"
        ) from None
