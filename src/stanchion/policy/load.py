"""Finding and reading policies: a pack's name, a file, or data already parsed, with what they
extend. Of one that has mistakes the right parts are compiled, so that all is told at once."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.compile import compile_policy
from stanchion.policy.compiled import CompiledPolicy, content_hash
from stanchion.policy.document import Document, DocumentNode, UnreadableValue, in_order, read_data
from stanchion.policy.errors import Fault, GuardFault, PolicyError, refusal
from stanchion.policy.formats import translated, translated_folder
from stanchion.policy.merge import settled
from stanchion.policy.nearest import nearest
from stanchion.policy.overlay import environment, extended, variants
from stanchion.policy.schema import (
    GUARDS,
    RULE,
    AgentEntry,
    PolicyFile,
    RoleEntry,
    TaskEntry,
    ToolEntry,
    any_file,
    entry_of,
    file_with,
)
from stanchion.policy.sections import Degrade
from stanchion.policy.struct_check import check, convert, fits

if TYPE_CHECKING:
    from pathlib import Path

    from stanchion.policy.sealed import DocumentCache

PACKS: Final = "stanchion.policy.packs"
YAML: Final = (".yaml", ".yml")
MAX_BYTES: Final = 32 * 1024 * 1024
"""How many bytes the longest text of a policy can have."""
_READ: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
MOST_GUARDS: Final = 20_000
"""How many guards a policy may have: so many rules take about ten seconds to compile."""


def load_policy(
    source: str | Path | dict[str, Any],
    env: str | None = None,
    kept: DocumentCache | None = None,
    joined: bool = False,
) -> CompiledPolicy:
    """Compile a policy from a pack's name, a file or a mapping, in one of its environments. What
    `kept` has of its documents is not read again; `joined` as in `compile_policy`.

    Raises `PolicyError` with every fault found, those of environments that are not asked for
    included.
    """
    read = read_policy(source, PolicyReading(kept=kept))
    return compile_document(read.variant(env), read.files, joined=joined)


class ReadPolicy(NamedTuple):
    """A policy as it was read and checked: as a whole, without (`None`) and in each of its
    environments, and from which files."""

    whole: Document
    variants: dict[str | None, Document]
    files: tuple[Path, ...]

    def variant(self, env: str | None) -> Document:
        """The policy in an environment, or without one; `PolicyError` where there is no such
        environment."""
        given: object = env
        if not isinstance(given, str | None):
            why = f"`env` is of the type `{type(given).__name__}`: give the name of an environment"
            raise refusal("policy", why)
        if env not in self.variants:
            raise PolicyError(list(environment(self.whole, env).faults))
        return self.variants[env]


def read_policy(
    source: str | Path | dict[str, Any], reading: PolicyReading | None = None
) -> ReadPolicy:
    """Read a policy and check it in every environment; raises `PolicyError` with every fault
    found."""
    reading = PolicyReading() if reading is None else reading
    whole = extended(reading.first(source), reading.find)
    _bound(whole)
    every = variants(whole)
    alone = [settled(each) for each in every.values()]
    for each in alone:
        _bound(each)
    if all(not each.faults and fits(each, kind_of(each)) for each in alone):
        return ReadPolicy(whole, every, tuple(reading.files))
    # The whole schema is needed only to say what is wrong: it names guards and options that were
    # meant.
    faults = in_order(
        [fault for each in alone for fault in (*each.faults, *check(each, any_file()))]
    )
    if faults:
        # Guards are not compiled any more, but what is wrong with them is told with the rest.
        further = [
            fault for each in alone for fault in (*_in_conditions(each), *faults_of_the_rest(each))
        ]
        raise PolicyError(in_order([*faults, *further]))
    return ReadPolicy(whole, every, tuple(reading.files))


def _bound(document: Document) -> None:
    guards = document.guards
    if len(guards) > MOST_GUARDS:
        many = f"there are {len(guards):,} guards, and a policy has at most {MOST_GUARDS:,}"
        how = "join those that differ in a value only, by `in` or a list"
        raise refusal(document.where("guards"), f"{many}: {how}")


def kind_of(document: Document) -> type[PolicyFile]:
    """The struct that a document is read by: it knows the guards that the document uses, and no
    others."""
    numbers = range(len(document.guards))
    uses = sorted({str(document.written("guards", at, "use")) for at in numbers})
    return file_with(tuple(uses)) if all(use in GUARDS for use in uses) else any_file()


def _in_conditions(document: Document) -> Iterator[Fault]:
    """What is wrong with the conditions of rules, whatever else is wrong with the document."""
    from stanchion.policy.rules import Rule

    for at in range(len(document.guards)):
        for option in ("when", "check"):
            if document.written("guards", at, "use") == RULE:
                source = document.node("guards", at, option).value
                try:
                    if isinstance(source, str):
                        Rule(when=source) if option == "when" else Rule(check=source)
                except GuardFault as fault:
                    if fault.path:
                        yield Fault(document.where("guards", at, option), str(fault))


def compile_document(
    document: Document, files: tuple[Path, ...] = (), imports: bool = True, joined: bool = False
) -> CompiledPolicy:
    """Compile a document that is whole and checked, in one environment or without any; `imports`
    and `joined` as in `compile_policy`."""
    document = settled(document)
    told = document.whereabouts
    return compile_policy(
        policy_file(document), document.where, files, imports=imports, told=told, joined=joined
    )


def policy_file(document: Document) -> PolicyFile:
    """What a document says, as it is hashed."""
    document = settled(document)
    file = convert(document, kind_of(document), any_file)
    written = document.written("version")
    return file if written is None else msgspec.structs.replace(file, version=written)


def policy_hash(source: str | Path | dict[str, Any], env: str | None = None) -> str:
    """The hash of a policy in one of its environments, by which it is trusted; none of the code
    that it names is run.

    It is the hash that `Shield.policy` and decisions have where a program adds no guards of its
    own.
    """
    return content_hash(policy_file(read_policy(source).variant(env)))


def pack_text(name: str) -> str | None:
    """The text of a shipped policy; `None` where there is none of that name."""
    from pkgutil import get_data

    if not name.isidentifier() and not name.replace("-", "_").isidentifier():
        return None
    try:
        text = get_data(PACKS, f"{name}.yaml")
    except OSError:
        return None
    return None if text is None else text.decode()


def packs() -> tuple[str, ...]:
    """The names of the shipped policies."""
    from importlib import resources

    found = [file.name for file in resources.files(PACKS).iterdir()]
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


def described_packs() -> dict[str, str]:
    """The shipped policies, each with the line that stands on top of it."""
    from importlib import resources

    texts = {
        name: resources.files(PACKS).joinpath(f"{name}.yaml").read_text("utf-8") for name in packs()
    }
    return {name: text.partition("\n")[0].removeprefix("#").strip() for name, text in texts.items()}


class PolicyReading:
    """Reads the documents of one policy and remembers which files they came from, those of a folder
    alone if there is one to stay within."""

    def __init__(self, within: Path | None = None, kept: DocumentCache | None = None) -> None:
        self.files: list[Path] = []
        self._within = within
        self._kept = kept

    def first(self, source: str | Path | dict[str, Any]) -> Document:
        """The document that was asked for."""
        given: object = source
        if not isinstance(given, str | os.PathLike | dict):
            how = "give a pack's name, a file, or a `dict`"
            raise refusal("policy", f"a `{type(given).__name__}` is no policy: {how}")
        if isinstance(source, dict):
            return translated(read_data(source))
        return self._read(source, None)

    def find(self, name: str, origin: str) -> Document:
        """A document that another one extends: a pack, or a file beside it."""
        from pathlib import Path

        return self._read(name, Path(origin).parent)

    def _read(self, source: str | Path, beside: Path | None) -> Document:
        from pathlib import Path

        text = pack_text(source) if isinstance(source, str) else None
        if text is not None:
            return self._text(text, f"pack {source}")
        path = Path(source) if beside is None else beside / source
        self.files.append(path)
        try:
            if self._within is not None:
                _stay(path, self._within)
            if path.is_dir():
                return self._folder(path)
            return translated(self._text(file_text(path), str(path)))
        except FileNotFoundError:
            near = nearest(str(source), tuple(packs()))
            meant = "" if near is None else f"did you mean the pack `{near}`? If not, "
            how = f"{meant}give the path of a file or one of the packs {', '.join(packs())}"
            raise refusal(source, f"no such policy: {how}") from None
        except OSError as error:
            why = error.strerror.lower() if error.strerror else type(error).__name__
            raise refusal(source, f"cannot be read: {why}") from None
        except UnicodeDecodeError:
            raise refusal(source, "cannot be read: it is not UTF-8") from None

    def _folder(self, folder: Path) -> Document:
        """The guardrail files of a folder, in the order of their names, as one document."""
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in YAML)
        self.files += paths
        if self._within is not None:
            for path in paths:
                _stay(path, self._within)
        texts = [(file_text(path), str(path)) for path in paths]
        read = translated_folder(
            tuple([self._text(text, origin) for text, origin in texts]), str(folder)
        )
        _none_below(folder)
        return read

    def _text(self, text: str, origin: str) -> Document:
        """A text as a document, if need be as it was kept."""
        known = None if self._kept is None else self._kept.get(text, origin)
        if known is not None:
            return known
        from stanchion.policy.composed import read_text

        document = read_text(text, origin)
        if self._kept is not None:
            self._kept.put(text, document)
        return document


def file_text(path: Path) -> str:
    """Read a policy's file; `OSError` for what is no file that ends, as a pipe or a device, and for
    one that is too large. It never waits for somebody to write."""
    with open(os.open(path, _READ), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file: copy it to one")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MAX_BYTES >> 20} MiB: split it")
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _none_below(folder: Path) -> None:
    """Refuse files in folders inside of one that is read as guardrail files: nobody would read
    them."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        lost = sorted(os.path.join(place, name) for name in files if name.lower().endswith(YAML))
        if lost and place != str(folder):
            said = f"it is in a folder inside `{folder}`, where no guardrail file is looked for"
            raise refusal(lost[0], f"{said}: move it up, or load its folder by itself")


def _stay(path: Path, within: Path) -> None:
    """Refuse a file that is not one of a folder, wherever links lead, and what is no plain file."""
    real = path.resolve()
    if within not in real.parents:
        raise refusal(
            path, f"it is not inside `{within}`: a project's policies must be its own files"
        )
    if real.exists() and not real.is_file() and not real.is_dir():
        raise refusal(path, "it is not a plain file: a policy must be one")


SALVAGED: Final[dict[str, Any]] = {
    "roles": RoleEntry,
    "agents": AgentEntry,
    "tasks": TaskEntry,
    "tools": ToolEntry,
}


def faults_of_the_rest(document: Document) -> list[Fault]:
    """What compiling finds in those entries of a document that are right in themselves.

    What could be the consequence of an entry that was left out is not told: a list that nothing
    seems to act on, a role that seems to be missing.
    """
    data: dict[str, Any] = {"name": "salvaged"}
    whole = True
    root, nodes = document.root.fields, document.guards
    for table, kind in SALVAGED.items():
        entries = root[table].fields if table in root else {}
        data[table] = {
            name: one.data() for name, one in entries.items() if _right(document, one, kind)
        }
        whole = whole and len(data[table]) == len(entries)
    if "degrade" in root:
        whole = whole and _right(document, root["degrade"], Degrade)
        data |= {"degrade": root["degrade"].data()} if whole else {}
    kept = [at for at, node in enumerate(nodes) if _right(document, node, entry_of(tuple(GUARDS)))]
    data["guards"] = [nodes[at].data() for at in kept]
    whole = whole and len(kept) == len(nodes)

    def where(*path: Any) -> str:
        return document.where(
            *(("guards", kept[path[1]], *path[2:]) if path[0] == "guards" else path)
        )

    try:
        compile_policy(typed.convert(data, any_file()), where, whole=whole)
    except PolicyError as error:
        return list(error.faults)
    return []


def _right(document: Document, node: DocumentNode, kind: Any) -> bool:
    return _readable(node) and not check(Document(document.origin, node), kind)


def _readable(node: DocumentNode) -> bool:
    """Whether everything in it could be read; what could not has a fault already."""
    below = [*node.fields.values(), *node.items]
    return not isinstance(node.value, UnreadableValue) and all(map(_readable, below))
