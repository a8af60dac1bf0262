"""Finding and reading policies: a pack's name, a file, or data already parsed, with what they extend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from stanchion.policy.checking import check, convert
from stanchion.policy.compile import compile_policy
from stanchion.policy.compiled import CompiledPolicy, content_hash
from stanchion.policy.copying import read_data
from stanchion.policy.document import Document, in_order
from stanchion.policy.errors import Fault, GuardFault, PolicyError
from stanchion.policy.formats import translated
from stanchion.policy.overlay import environment, extended, variants
from stanchion.policy.rules import Rule
from stanchion.policy.salvage import faults_of_the_rest
from stanchion.policy.schema import PolicyFile

if TYPE_CHECKING:
    from pathlib import Path

PACKS: Final = "stanchion.policy.packs"


def load_policy(source: str | Path | dict[str, Any], env: str | None = None) -> CompiledPolicy:
    """Compile a policy from a pack's name, a file or a mapping, in one of its environments.

    Raises `PolicyError` with every fault found, those of environments that are not asked for included.
    """
    read = read_policy(source)
    return compile_document(read.variant(env), read.files)


class Read(NamedTuple):
    """A policy as it was read and checked: as a whole, without (`None`) and in each of its environments, and from
    which files."""

    whole: Document
    variants: dict[str | None, Document]
    files: tuple[Path, ...]

    def variant(self, env: str | None) -> Document:
        """The policy in an environment, or without one; `PolicyError` where there is no such environment."""
        if env not in self.variants:
            raise PolicyError(list(environment(self.whole, env).faults))
        return self.variants[env]


def read_policy(source: str | Path | dict[str, Any], reading: Reading | None = None) -> Read:
    """Read a policy and check it in every environment; raises `PolicyError` with every fault found."""
    reading = Reading() if reading is None else reading
    whole = extended(reading.first(source), reading.find)
    every = variants(whole)
    faults = in_order([fault for each in every.values() for fault in (*each.faults, *check(each, PolicyFile))])
    if faults:
        # Guards are not compiled any more, but what is wrong with them is told with the rest.
        further = [fault for each in every.values() for fault in (*_in_conditions(each), *faults_of_the_rest(each))]
        raise PolicyError(in_order([*faults, *further]))
    return Read(whole, every, tuple(reading.files))


def _in_conditions(document: Document) -> Iterator[Fault]:
    """What is wrong with the conditions of rules, whatever else is wrong with the document."""
    guards = document.node("guards").value
    for at in range(len(guards) if isinstance(guards, list) else 0):
        for option in ("when", "check"):
            if document.written("guards", at, "use") == Rule.name:
                source = document.node("guards", at, option).value
                try:
                    if isinstance(source, str):
                        Rule(when=source) if option == "when" else Rule(check=source)
                except GuardFault as fault:
                    if fault.path:
                        yield Fault(document.where("guards", at, option), str(fault))


def compile_document(document: Document, files: tuple[Path, ...] = (), imports: bool = True) -> CompiledPolicy:
    """Compile a document that is whole and checked, in one environment or without any; `imports` as in
    `compile_policy`."""
    return compile_policy(policy_file(document), document.where, files, imports=imports)


def policy_file(document: Document) -> PolicyFile:
    """What a document says, as it is hashed."""
    file = convert(document, PolicyFile)
    written = document.written("version")
    return file if written is None else msgspec.structs.replace(file, version=written)


def policy_hash(source: str | Path | dict[str, Any], env: str | None = None) -> str:
    """The hash of a policy in one of its environments, by which it is trusted; none of the code that it names is run.

    It is the hash that `Shield.policy` and decisions have where a program adds no guards of its own.
    """
    return content_hash(policy_file(read_policy(source).variant(env)))


def packs() -> tuple[str, ...]:
    """The names of the shipped policies."""
    from importlib import resources

    found = [file.name for file in resources.files(PACKS).iterdir()]
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


def described_packs() -> dict[str, str]:
    """The shipped policies, each with the line that stands on top of it."""
    from importlib import resources

    texts = {name: resources.files(PACKS).joinpath(f"{name}.yaml").read_text("utf-8") for name in packs()}
    return {name: text.partition("\n")[0].removeprefix("#").strip() for name, text in texts.items()}


class Reading:
    """Reads the documents of one policy and remembers which files they came from, those of a folder alone if there is
    one to stay within."""

    def __init__(self, within: Path | None = None) -> None:
        self.files: list[Path] = []
        self._within = within

    def first(self, source: str | Path | dict[str, Any]) -> Document:
        """The document that was asked for."""
        if isinstance(source, dict):
            return translated(read_data(source))
        return self._read(source, None)

    def find(self, name: str, origin: str) -> Document:
        """A document that another one extends: a pack, or a file beside it."""
        from pathlib import Path

        return self._read(name, Path(origin).parent)

    def _read(self, source: str | Path, beside: Path | None) -> Document:
        from importlib import resources
        from pathlib import Path

        from stanchion.policy.composing import read_text

        if isinstance(source, str) and source in packs():
            text = resources.files(PACKS).joinpath(f"{source}.yaml").read_text("utf-8")
            return read_text(text, f"pack {source}")
        path = Path(source) if beside is None else beside / source
        self.files.append(path)
        try:
            if self._within is not None:
                _stay(path, self._within)
            return translated(read_text(path.read_text("utf-8"), str(path)))
        except FileNotFoundError:
            hint = f"give the path of a file or one of the packs {', '.join(packs())}"
            raise PolicyError([Fault(str(source), f"no such policy: {hint}")]) from None
        except OSError as error:
            why = error.strerror.lower() if error.strerror else type(error).__name__
            raise PolicyError([Fault(str(source), f"cannot be read: {why}")]) from None
        except UnicodeDecodeError:
            raise PolicyError([Fault(str(source), "cannot be read: it is not UTF-8")]) from None


def _stay(path: Path, within: Path) -> None:
    """Refuse a file that is not one of a folder, wherever links lead, and what is no plain file."""
    real = path.resolve()
    if within not in real.parents:
        raise PolicyError([Fault(str(path), f"it is not inside of `{within}`: a project's policies are its own files")])
    if real.exists() and not real.is_file():
        raise PolicyError([Fault(str(path), "it is no plain file: a policy is one")])
