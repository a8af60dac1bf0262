"""Where state and records are kept: what was asked for, what the environment says, or the state of
the project."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from stanchion import typed
from stanchion.audit.journal import Journal, MemoryJournal
from stanchion.audit.layout import STATE_DIR, state_folder
from stanchion.audit.open_trail import open_trail
from stanchion.audit.retention import Keep
from stanchion.folders import user_config
from stanchion.guards._own import OwnPlaces
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import brief, visible
from stanchion.policy.project_policies import own_policy
from stanchion.policy.schema import PolicyFile
from stanchion.stores.open_store import open_store
from stanchion.stores.protocol import Store, is_lasting

if TYPE_CHECKING:
    from stanchion.telemetry.notices.post import Post

MARKERS: Final = (".git", ".hg", "pyproject.toml", "package.json", "stanchion.yaml", ".stanchion")
"""What makes a folder the root of a project: one of these in it, whatever it is."""

OWNER: Final = "project.json"
"""The file that says whose state a folder holds."""

NAME_LENGTH: Final = 40

_OTHER: Final = regex(r"[^A-Za-z0-9._-]+")
_EVERYBODYS: Final = stat.S_ISVTX | stat.S_IWOTH


class ProjectOwner(msgspec.Struct, frozen=True):
    """Whose state a folder holds: the project's root."""

    root: str


def project_of(folder: Path, home: Path) -> Path:
    """The root of the project that a folder is in: the nearest folder with a marker, or else the
    folder itself.

    Paths are real ones, so every way to a folder leads to one root. A marker counts in no folder
    that holds more than one project: the home folder and what is above it, the root of a file
    system, and what everybody may write to, like `/tmp`, where anybody could put one.
    """
    start, wide = os.path.realpath(folder), {*_upwards(os.path.realpath(home))}
    for each in _upwards(start):
        if each in wide or each == os.path.dirname(each) or _is_everybodys(each):
            break
        if any(os.path.lexists(os.path.join(each, name)) for name in MARKERS):
            return Path(each)
    return Path(start)


def state_name(root: Path) -> str:
    """What the folder of a project's state is called: the root's name, and eight digits of its
    path."""
    name = _OTHER.sub("-", root.name).strip("-.")[:NAME_LENGTH]
    return f"{name if name else 'project'}-{blake2b(os.fsencode(root), digest_size=4).hexdigest()}"


def claim(folder: Path, root: Path) -> None:
    """Write down, once, whose state a folder holds; `OSError` where it is another project's.

    Where it cannot be written that is for the store or the trail to say, which are to be in the
    same folder.
    """
    own, known = _words(root), owner_of(folder)
    if known is not None and known != own:
        raise OSError(
            f"`{folder}` holds the state of `{known}` and not of `{own}`: move that folder away"
        )
    if known is None:
        with contextlib.suppress(OSError):
            for each in reversed((folder, *folder.parents)):
                if not each.exists():
                    each.mkdir(mode=0o700, exist_ok=True)
            made = folder / f".{OWNER}-{os.urandom(8).hex()}"
            with open(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(msgspec.json.encode(ProjectOwner(own)) + b"\n")
            made.replace(folder / OWNER)


def owner_of(folder: Path) -> str | None:
    """The root of the project whose state a folder holds; `None` where it does not say."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return typed.decode((folder / OWNER).read_bytes(), ProjectOwner).root
    return None


def _upwards(path: str) -> Iterator[str]:
    """A folder and those above it; the root of a file system is the last."""
    yield path
    while (above := os.path.dirname(path)) != path:
        path = above
        yield path


def _is_everybodys(folder: str) -> bool:
    try:
        return os.stat(folder).st_mode & _EVERYBODYS == _EVERYBODYS
    except OSError:
        return False


def _words(root: Path) -> str:
    """A path as JSON can hold it, whatever bytes it has."""
    return os.fsencode(root).decode("utf-8", "backslashreplace")


STORE: Final = "STANCHION_STORE"
USER: Final = "user:"
"""The name of the state that all projects of a user can share."""

SHARED: Final = "shared"
PROJECTS: Final = "projects"


class StateFolder(msgspec.Struct, frozen=True):
    """A folder for state, and why it is that one: a project's own, one for everything that
    `STANCHION_STATE_DIR` names, or the user's shared one."""

    folder: Path
    why: Literal["project", "folder", "shared"]
    root: Path | None = None


class StateFinder:
    """Finds the state of a shield, when somebody asks for it and once. `start` is the folder from
    which its project is looked for, the current one if there is none; `store` is how its store was
    named."""

    def __init__(
        self, environ: Mapping[str, str], start: Path | None = None, store: object = None
    ) -> None:
        self._environ, self._start, self._store = environ, start, store
        self._found: StateFolder | None = None
        self._claimed = False

    @property
    def state(self) -> StateFolder:
        """The state; `OSError` where there is no place for it."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def keep(self) -> Path:
        """The folder, to keep something in: it then says whose it is."""
        if self.state.root is not None and not self._claimed:
            claim(self.state.folder, self.state.root)
            self._claimed = True
        return self.state.folder

    def _find(self) -> StateFolder:
        user = state_folder(self._environ)
        named = self._environ.get(STORE, "") if self._store is None else self._store
        if named == USER:
            return StateFolder(user / SHARED, "shared")
        if self._environ.get(STATE_DIR, ""):
            return StateFolder(user, "folder")
        root = project_of(
            _current() if self._start is None else self._start, Path(os.path.expanduser("~"))
        )
        return StateFolder(user / PROJECTS / state_name(root), "project", root)


def start_of(project: str | Path | None, files: Sequence[Path] = ()) -> Path | None:
    """The folder from which a project is looked for: the one that was named, or that of a policy's
    first file; `None` for the current one. `OSError` where what was named is no folder.

    A policy that is linked to from several projects is each one's own: the link's folder counts.
    """
    if project is None:
        return files[0].parent if files else None
    if not Path(project).is_dir():
        raise OSError(f"the project `{project}` is not a folder: give its root, or a folder in it")
    return Path(project)


def _current() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise OSError(
            f"the current folder no longer exists: change to another, give a project, or set "
            f"{STATE_DIR}"
        ) from None


AUDIT: Final = "STANCHION_AUDIT"
KEY: Final = "STANCHION_AUDIT_KEY"
WITNESS: Final = "STANCHION_AUDIT_WITNESS"
METRICS_DIR: Final = "STANCHION_METRICS_DIR"
KEEP_DAYS: Final = "STANCHION_AUDIT_KEEP_DAYS"
KEEP_MB: Final = "STANCHION_AUDIT_KEEP_MB"

EVERYTHING: Final = "all"
"""What either of them is where nothing is to leave because of it."""
MEGABYTE: Final = 1024 * 1024

MEMORY: Final = "memory:"
BROKER: Final = "broker:"
"""How the name of a broker begins; the path of its socket follows."""
STORE_FILE: Final = "state.db"
TRAIL_FOLDER: Final = "trail"
METRICS: Final = "metrics"
EPOCHS: Final = "epochs"
"""The folder in which a host remembers the stores that it has used."""

Clock = Callable[[], int]


def broker_for(source: Any, store: Any, environ: Mapping[str, str]) -> str:
    """The socket of the broker that a policy's or a store's name says, or `STANCHION_STORE` where
    no store is named; empty where the shield is in this process."""
    for name in (source, environ.get(STORE, "") if store is None else store):
        if isinstance(name, str) and name.startswith(BROKER):
            return name.removeprefix(BROKER)
    return ""


def store_for(
    given: Store | str | Path | None, environ: Mapping[str, str], clock: Clock, whose: StateFinder
) -> Any:
    """The store: one that was made already, the one a name or `STANCHION_STORE` says, or a file in
    the state's folder; `user:` is the state that all projects of a user share."""
    if given is not None and not isinstance(given, str | Path):
        return given
    if is_own(given, environ):
        whose.keep()
    return open_store(str(store_name(given, environ, whose)), clock)


def store_name(
    given: str | Path | None, environ: Mapping[str, str], whose: StateFinder
) -> str | Path:
    """How the store is named."""
    return (
        whose.state.folder / STORE_FILE if is_own(given, environ) else store_named(given, environ)
    )


def is_own(given: object, environ: Mapping[str, str]) -> bool:
    """Whether the store is that of the state, and no other was named."""
    return store_named(given, environ) in ("", USER)


def journal_for(
    given: Journal | str | Path | None,
    environ: Mapping[str, str],
    clock: Clock,
    whose: StateFinder,
    keep: Keep,
) -> Any:
    """The journal: one that was made already, a trail in the folder that was named or that
    `STANCHION_AUDIT` names, or one in the state's folder; `memory:` keeps the newest decisions in
    memory, `user:` is the trail of the state that all projects share. The URL of a PostgreSQL keeps
    the trail in the state's folder and copies it there."""
    if given is not None and not isinstance(given, str | Path):
        return given
    named = _named(given, environ)
    folder = trail_folder(given, environ, whose)
    if folder is None:
        return MemoryJournal()
    if not named or _is_database(named):
        whose.keep()
    key = Path(environ[KEY]) if environ.get(KEY, "") else None
    if _is_database(named):
        from stanchion.audit.postgres import open_postgres_trail

        return open_postgres_trail(folder, str(named), key, keep, clock)
    return open_trail(folder, key, keep, clock)


def trail_folder(
    given: str | Path | None, environ: Mapping[str, str], whose: StateFinder
) -> Path | None:
    """The folder of the trail; `None` where records are kept in memory."""
    named = _named(given, environ)
    if named == MEMORY:
        return None
    if named == USER:
        return StateFinder(environ, store=USER).state.folder / TRAIL_FOLDER
    return Path(named) if named and not _is_database(named) else whose.state.folder / TRAIL_FOLDER


def epochs_folder(given: object, environ: Mapping[str, str], whose: StateFinder) -> Path:
    """Where this host remembers a store: beside it where it is the state's own. What was named can
    be used by many projects, and each has to know what another has seen of it."""
    return (whose.keep() if is_own(given, environ) else state_folder(environ)) / EPOCHS


def metrics_folder(
    store: object, journal: object, environ: Mapping[str, str], whose: StateFinder
) -> Path | None:
    """Where processes write their figures: the folder that `STANCHION_METRICS_DIR` names, or one in
    the state's folder where a shield keeps its store or its trail there; `None` where it keeps
    nothing."""
    named = environ.get(METRICS_DIR, "")
    if named:
        return Path(named)
    own_trail = (journal is None or isinstance(journal, str | Path)) and not _named(
        journal, environ
    )
    return whose.keep() / METRICS if is_own(store, environ) or own_trail else None


def store_named(given: object, environ: Mapping[str, str]) -> str:
    """The name that a store was given, here or by `STANCHION_STORE`; empty where none was."""
    return environ.get(STORE, "") if given is None else str(given)


def _named(given: str | Path | None, environ: Mapping[str, str]) -> str | Path:
    return environ.get(AUDIT, "") if given is None else given


def _is_database(named: str | Path) -> bool:
    return str(named).lower().startswith(("postgresql://", "postgres://"))


def keep_of(environ: Mapping[str, str], usual: Keep) -> Keep:
    """What retention leaves, as the environment says, and as is usual where it says nothing."""
    size = _number(environ, KEEP_MB, None if usual.size is None else usual.size / MEGABYTE)
    return Keep(
        _number(environ, KEEP_DAYS, usual.days), None if size is None else int(size * MEGABYTE)
    )


def _number(environ: Mapping[str, str], name: str, usual: float | None) -> float | None:
    text = environ.get(name, "").strip()
    if not text:
        return usual
    if text == EVERYTHING:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        raise ValueError(f"{name} is `{text}`: give a positive number, or `all` to keep everything")
    return number


def in_words(file: PolicyFile, store: Any) -> str:
    """Which policy is in force, in which mode, and where state is kept."""
    return f"policy {brief(file.name)}, {file.mode}, store {name_of_store(store)}"


def name_of_store(store: Any) -> str:
    """Where a store is, without what is secret; the name of its class where it does not say."""
    if not is_lasting(store):
        return type(getattr(store, "unveiled", store)).__name__
    return visible(store.place) if store.place else MEMORY


BESIDE: Final = ("-wal", "-shm", "-journal", "-experience", "-experience-wal", "-experience-shm")
"""What SQLite keeps beside a file, and the file of experience with what it keeps beside that."""
BESIDE_KEY: Final = (".verify", ".new")
"""What is made beside the file of an audit key."""
SQLITE: Final = "sqlite:"


def own_places(
    store: Any,
    journal: Any,
    policies: Iterable[Path],
    environ: Mapping[str, str],
    post: Post | None = None,
    folder: str | None = None,
) -> OwnPlaces:
    """Where a store, a journal and the files of a policy are, the state folder, the folders of keys
    and of the user's own policy, and what says where notices go; each as it is named and as it
    really is. Relative paths begin in the `folder`, or where this process stands."""
    secrets = () if post is None else post.secrets
    closed = [
        *_state(environ),
        *_config(),
        *_stored(store),
        *_recorded(journal),
        *_named_by_environment(environ),
        *secrets,
    ]
    return OwnPlaces(
        closed=_both(closed),
        policies=_both([*policies, own_policy().parent, *(() if post is None else post.files)]),
        here=_cwd() if folder is None else folder.replace("\\", "/"),
        begins=folder is not None,
        home=os.path.expanduser("~"),
    )


def state_or_none(environ: Mapping[str, str]) -> Path | None:
    """The state folder; `None` where there is none to be had."""
    try:
        return state_folder(environ)
    except OSError:
        return None


def _state(environ: Mapping[str, str]) -> list[Path]:
    state = state_or_none(environ)
    return [] if state is None else [state]


def _config() -> list[Path]:
    return [Path(user_config()) / "keys"]


def _stored(store: Any) -> list[Path]:
    place = getattr(store, "place", "")
    if not isinstance(place, str) or not place.startswith(SQLITE):
        return []
    file = place.removeprefix(SQLITE)
    return [Path(file), *[Path(f"{file}{end}") for end in BESIDE]]


def _recorded(journal: Any) -> list[Path]:
    folder = getattr(journal, "folder", None)
    return [folder] if isinstance(folder, Path) else []


def _named_by_environment(environ: Mapping[str, str]) -> list[Path]:
    key, metrics = environ.get(KEY, ""), environ.get(METRICS_DIR, "")
    keys = [Path(f"{key}{end}") for end in ("", *BESIDE_KEY)] if key else []
    return [*keys, Path(metrics)] if metrics else keys


def _both(paths: Iterable[Path]) -> tuple[str, ...]:
    named = [os.path.abspath(path) for path in paths]
    return tuple(
        dict.fromkeys(
            [each.replace("\\", "/") for path in named for each in (path, os.path.realpath(path))]
        )
    )


def _cwd() -> str:
    try:
        return os.getcwd().replace("\\", "/")
    except OSError:  # the folder is gone: relative paths lead nowhere
        return ""
