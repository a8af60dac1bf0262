"""Writing what a run of the Tutor leaves: its trace, its recording, and the manifest that vouches
for both and says what the run stands on."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import msgspec

from stanchion import typed
from stanchion.audit.journal import Fact
from stanchion.audit.layout import state_folder
from stanchion.runtime.answers.repository import Git, NoAnswer
from stanchion.runtime.standing.veil import tell
from stanchion.tutor.bundles.canonical import PREFIX, digest
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.envelope.envelope import Episode
from stanchion.tutor.envelope.trace import EpisodeTrace
from stanchion.tutor.law.verdicts import TUTOR_API_VERSION
from stanchion.tutor.manifests.manifest import (
    FIELDS,
    TUTOR,
    WHOLE,
    WRITTEN,
    Benchmark,
    Checksums,
    Environment,
    Manifest,
    ManifestError,
    Model,
    Outputs,
    PolicyPart,
    RepairStats,
    RepositoryPart,
    ResultPart,
    TutorPart,
    hashed,
    repeatable,
)
from stanchion.tutor.playing.bundle_files import ChosenBundle
from stanchion.tutor.playing.recordings import GameLine, Recorder, to_lines

GIT_S: Final = 10.0
MOST_FILES: Final = 10_000
MOST_BYTES: Final = 1 << 30
BLOCK: Final = 1 << 20


def environment(began: float, ended: float) -> Environment:
    """When something ran, by the clock, and on what."""
    return Environment(
        timestamp_start=_time(began),
        timestamp_end=_time(ended),
        duration_seconds=round(max(0.0, ended - began), 3),
        python_version=platform.python_version(),
        platform=f"{platform.system().lower()}-{platform.machine()}",
        hostname=platform.node(),
    )


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def repository(folder: str | Path = ".") -> RepositoryPart:
    """What git says of a folder; where it says nothing, why."""
    try:
        git = Git(str(folder), time.monotonic() + GIT_S)
        commit = git.lines("rev-parse", "--verify", "HEAD", parted="\n")[0]
        branch = git.lines("symbolic-ref", "--quiet", "--short", "HEAD", parted="\n", none=True)
        changed = git.lines(
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=dirty",
        )
        tags = git.lines("tag", "--points-at", "HEAD", parted="\n")
    except FileNotFoundError:
        return _no_git("git is not installed, or the folder is gone")
    except (NoAnswer, OSError, subprocess.SubprocessError, ValueError, IndexError):
        return _no_git("the folder is in no git repository that has a commit, or git does not say")
    return RepositoryPart(
        git_commit=commit,
        git_dirty=bool(changed),
        git_branch=_text(branch[0]) if branch else None,
        git_tags=tuple(_text(one) for one in tags),
    )


def _no_git(why: str) -> RepositoryPart:
    return RepositoryPart(git_commit=None, git_dirty=None, git_missing=why)


def _text(name: str) -> str:
    """A name that git may have in any bytes, as text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@cache
def tutor_hash() -> str:
    """The hash of the Tutor's source: of every file of `stanchion.tutor`, by its name, but for
    those that play it. What runs does not change while it does."""
    here = Path(__file__).parent
    law = [one for one in sorted(here.parent.rglob("*.py")) if here not in one.parents]
    return _hash_of(here.parent, law)


def game_hash(
    game: Mapping[str, Any], rules: Sequence[Any], root: str | Path, apart: Iterable[Path] = ()
) -> str:
    """The hash of what is played: the game, its rules, and every plain file in its folder, by name
    and content.

    Links are not followed, and files `apart` do not count. Raises `ManifestError` for a folder that
    has too much.
    """
    left, folder = {one.resolve() for one in apart}, Path(root)
    files = _hash_of(folder, [one for one in sorted(_plain(folder)) if one.resolve() not in left])
    return digest({"game": game, "rules": rules, "files": files})


def _plain(folder: Path) -> Iterator[Path]:
    count = size = 0
    for above, _, names in os.walk(folder):
        for name in names:
            path = Path(above, name)
            if path.is_symlink() or not path.is_file():
                continue
            count, size = count + 1, size + path.stat().st_size
            if count > MOST_FILES or size > MOST_BYTES:
                most = f"{MOST_FILES:,} files or {MOST_BYTES >> 30} GiB"
                raise ManifestError(
                    f"benchmark.benchmark_files_hash: `{folder}` has more than {most}: play in a "
                    f"copy"
                )
            yield path


def _hash_of(folder: Path, files: Iterable[Path]) -> str:
    try:
        return digest({_text(str(one.relative_to(folder))): file_hash(one) for one in files})
    except OSError as error:
        raise ManifestError(
            f"benchmark.benchmark_files_hash: `{error.filename}`: {error.strerror}"
        ) from None


def file_hash(path: Path) -> str:
    """The SHA-256 of a file."""
    made = sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            made.update(block)
    return PREFIX + made.hexdigest()


LAWS: Final = {"1": TUTOR_API_VERSION, "2": "2.0.0"}
"""The laws, each with its version: the first number changes with what it decides."""
MODE: Final = 0o600
"""Who may read what was written: a recording has everything that was said and seen."""


class ManifestWriter:
    """Writes the manifest of one episode, and what stands beside it. What is there already is not
    written over.

    `path` is where the manifest goes; without one it goes to the folder of the state, under the
    run's id. `run` is the run of a shield, where there is one: its trail then knows the manifest.
    Raises `ManifestError` where it can be seen before the game that no manifest can be written
    after it.
    """

    def __init__(
        self,
        played: GameLine,
        model: Model,
        benchmark: Benchmark,
        path: str | Path | None = None,
        chosen: ChosenBundle | None = None,
        run: Any = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.run_id = str(uuid4())
        repeatable(model)
        self.path = _own(self.run_id) if path is None else Path(path)
        self._played, self._model, self._benchmark = played, model, benchmark
        self._chosen = ChosenBundle() if chosen is None else chosen
        self._run, self._clock, self._began = run, clock, clock()
        self._repository = repository()
        self._files = {
            name: self.path.with_name(f"{self.path.stem}.{name}.jsonl")
            for name in ("trace", "recording")
        }
        for file in (self.path, *self._files.values()):
            if file.exists():
                raise ManifestError(
                    f"outputs: `{file}` is there already: give another `manifest_path`"
                )
        if not self.path.parent.is_dir():
            raise ManifestError(f"outputs: there is no folder `{self.path.parent}`: make it first")

    def finish(self, episode: Episode, recorder: Recorder | None = None) -> dict[str, Any]:
        """Write what the episode leaves, and give the manifest; raises `ManifestError` where it
        cannot be. Without a recorder there is no recording, and the episode cannot be played
        again."""
        trace = episode.trace
        texts = {"trace": trace.to_jsonl().encode()}
        recorded = episode.calls if recorder is None else recorder.calls
        if trace.calls != recorded:
            raise ManifestError(
                f"result.model_calls: the trace has {trace.calls}, the recording {recorded}"
            )
        if recorder is not None:
            texts["recording"] = to_lines(self._played, recorder)
        made = hashed(self._manifest(episode, {name: _hash(text) for name, text in texts.items()}))
        try:
            for name, text in texts.items():
                _write(self._files[name], text)
            _write(self.path, msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n")
        except OSError as error:
            raise ManifestError(
                f"outputs: `{error.filename}` cannot be written: {error.strerror}"
            ) from None
        if self._run is not None:
            anchor(self._run, made)
        return made

    def _manifest(self, episode: Episode, hashes: dict[str, str]) -> Manifest:
        played, trace = self._played, episode.trace
        config = typed.convert(played.config, EnvelopeConfig)
        return Manifest(
            kind=TUTOR,
            run_id=self.run_id,
            environment=environment(self._began, self._clock()),
            repository=self._repository,
            tutor=TutorPart(
                api_version=LAWS[played.law],
                law=played.law,
                tutor_file_hash=tutor_hash(),
                envelope_enabled=_any_layer(config),
                envelope_config=played.config,
            ),
            model=self._model,
            benchmark=self._benchmark,
            policy=self._policy(config),
            outputs=Outputs(
                jsonl_log=self._files["trace"].name,
                recording=self._files["recording"].name if "recording" in hashes else None,
                manifest_file=self.path.name,
            ),
            checksums=Checksums(
                jsonl_log_hash=hashes["trace"], recording_hash=hashes.get("recording")
            ),
            repair_stats=_repairs(trace) if config.repair_enabled else None,
            result=ResultPart(
                turns=episode.turns,
                model_calls=trace.calls,
                score=episode.score,
                won=episode.won,
                stopped=episode.stopped or None,
            ),
        )

    def _policy(self, config: EnvelopeConfig) -> PolicyPart:
        file, bundle, refusal = self._chosen.file, self._chosen.bundle, self._chosen.refusal
        data = None if file is None else file.metadata
        return PolicyPart(
            bundle_enabled=bundle is not None,
            bundle_path=config.policy_bundle_path,
            bundle_hash=bundle.hash if bundle is not None and bundle.hash else None,
            compiled_by=None if data is None else _first(data.compiled_by, data.created_by),
            compiled_at=None if data is None else _first(data.compiled_at, data.created_at),
            bundle_refused=None if refusal is None else f"{refusal.reason.value}: {refusal.why}",
        )


def anchor(run: Any, made: dict[str, Any]) -> None:
    """Write the hashes of a manifest into the trail of a run: who changes the manifest then has to
    change both."""
    info, shield = run.desk.info, run.desk.shield
    # Pairs and no mapping: the name of a field such as `max_tokens` would have its hash redacted.
    data = {
        "manifest_digest": made[WHOLE],
        "fields": [[place, one] for place, one in made[FIELDS].items()],
    }
    about = f"manifest:{made['run_id']}"
    tell(shield, Fact(shield.clock(), WRITTEN, about, info.tenant, info.id, info.agent, data=data))


def _own(run_id: str) -> Path:
    """Where a manifest goes that nobody gave a place to; its folder is made."""
    try:
        folder = state_folder(os.environ) / "tutor" / run_id
        folder.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise ManifestError(
            f"outputs: no folder for the manifest can be made: {error}: set `manifest_path`"
        ) from None
    return folder / "manifest.json"


def _any_layer(config: EnvelopeConfig) -> bool:
    return (config.layer1_schema, config.layer2_repair, config.layer3_policy) != (
        "off",
        "off",
        "off",
    )


def _repairs(trace: EpisodeTrace) -> RepairStats:
    asked: dict[int, int] = {}
    for one in trace.turns:
        asked[one.turn] = asked.get(one.turn, 0) + one.attempts
    retries = tuple(max(0, calls - 1) for _, calls in sorted(asked.items()))
    return RepairStats(total_retries=sum(retries), retries_per_turn=retries)


def _first(*given: str | None) -> str | None:
    return next((one for one in given if one is not None), None)


def _hash(text: bytes) -> str:
    return PREFIX + sha256(text).hexdigest()


def _write(path: Path, text: bytes) -> None:
    with open(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, MODE), "wb"
    ) as file:
        file.write(text)
