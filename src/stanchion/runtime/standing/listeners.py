"""Who listens to what occurs: the log always, and the post where the operator has one."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stanchion.audit.errors import TrailError
from stanchion.audit.layout import state_folder
from stanchion.audit.tampering import is_telling
from stanchion.policy.errors import PolicyError
from stanchion.policy.project_policies import own_policy
from stanchion.policy.struct_check import convert
from stanchion.runtime.errors import NotifyError
from stanchion.runtime.standing.occurring import trail_tampered
from stanchion.stores.protocol import StoreError
from stanchion.telemetry.notices.message import log
from stanchion.telemetry.occurrences import Kind, Occurrence, Occurrences

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield
    from stanchion.telemetry.notices.config import NotifyFile
    from stanchion.telemetry.notices.post import Post


def listened_to(post: Post | None) -> Occurrences:
    """Occurrences that reach the log, and where notices go."""
    occurrences = Occurrences()
    occurrences.subscribe(log)
    if post is not None:
        post.begin(occurrences)
    return occurrences


def listen_to_trail(shield: Shield) -> None:
    """Have a shield tell what its trail finds changed: what it has found already, and what it will
    find."""
    journal = shield.journal
    if not is_telling(journal):
        return
    here = weakref.ref(shield)

    def told(words: str) -> None:
        there = here()
        if there is not None:
            trail_tampered(there, words)

    journal.tampering.hear(shield, told)


def tell_unopened(post: Post | None, error: StoreError | TrailError, at: int) -> None:
    """Tell that a shield could not be made, because its store or its trail cannot be opened."""
    occurrences = listened_to(post)
    lost, what = (
        (Kind.STORE_LOST, "store") if isinstance(error, StoreError) else (Kind.TRAIL_LOST, "trail")
    )
    text = f"a process cannot start, because its {what} cannot be opened: {error}"
    occurrences.tell(Occurrence(kind=lost, at=at, text=text, about=f"{what}:opening", hourly=True))
    occurrences.close()


NOTIFY: Final = "STANCHION_NOTIFY"
NAME: Final = "notify.yaml"
NOBODY: Final = "none"
"""What is named instead of a file where notices go to the log alone."""
FOLDER: Final = "notices"
"""The folder of notices that wait, in the state folder."""


def notify_file(given: str | Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file: the one that is named, here or by `STANCHION_NOTIFY`, or the one beside the user's
    own policy; `None` where there is none."""
    named = environ.get(NOTIFY, "").strip() if given is None else str(given)
    if named == NOBODY:
        return None
    if not named:
        own = usual_file()
        return own if os.path.lexists(own) else None
    if given is None and not os.path.isabs(named):
        raise NotifyError([f"{NOTIFY} is `{named}`: give an absolute path, or `{NOBODY}`"])
    return Path(named).absolute()


def usual_file() -> Path:
    """Where the file is looked for if nothing names one: beside the user's own policy."""
    return own_policy().with_name(NAME)


def read_notify(path: Path) -> NotifyFile:
    """What a file says; `NotifyError` with every mistake in it."""
    from stanchion.policy.composed import read_text
    from stanchion.telemetry.notices.config import NotifyFile, mistakes

    try:
        document = read_text(path.read_text("utf-8"), str(path))
        file = convert(document, NotifyFile)
    except PolicyError as error:
        raise NotifyError([str(fault) for fault in error.faults]) from None
    except UnicodeDecodeError:
        raise NotifyError([f"{path}: cannot be read: it is not UTF-8"]) from None
    except OSError as error:
        raise NotifyError([f"{path}: cannot be read: {error.strerror}"]) from None
    wrong = [f"{document.where(*one.path)}: {one.message}" for one in mistakes(file)]
    if wrong:
        raise NotifyError(wrong)
    return file


def post_for(given: str | Path | None, environ: Mapping[str, str]) -> Post | None:
    """What brings notices where the operator wants them; `None` where that is the log alone.
    `NotifyError` where the file is wrong, or a secret that it names cannot be used."""
    path = notify_file(given, environ)
    if path is None:
        return None
    file = read_notify(path)
    if not file.destinations:
        return None
    from stanchion.runtime.standing.ticket_links import link_maker
    from stanchion.telemetry.notices.post import Post, unusable_secrets

    wrong = [f"{path}: {why}" for why in unusable_secrets(file, environ)]
    if wrong:
        raise NotifyError(wrong)
    folder = spool_folder(path, environ)
    return Post(path, file, folder, dict(environ), link_maker(file, environ))


def spool_folder(path: Path, environ: Mapping[str, str]) -> Path:
    """Where notices wait that go where a file says."""
    return state_folder(environ) / FOLDER / blake2b(str(path).encode(), digest_size=8).hexdigest()
