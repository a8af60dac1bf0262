"""Writing what a run of the Tutor leaves: its trace, its recording, and the manifest that vouches
for both."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import msgspec

from stanchion import typed
from stanchion.audit.journal import Fact
from stanchion.audit.layout import state_folder
from stanchion.runtime.standing.veil import tell
from stanchion.tutor.bundles.canonical import PREFIX
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.envelope.envelope import Episode
from stanchion.tutor.envelope.trace import Trace
from stanchion.tutor.law.verdicts import TUTOR_API_VERSION
from stanchion.tutor.manifests.hashing import FIELDS, WHOLE, WRITTEN, hashed
from stanchion.tutor.manifests.manifest import (
    TUTOR,
    Benchmark,
    Checksums,
    Manifest,
    ManifestError,
    Model,
    Outputs,
    Policy,
    RepairStats,
    Result,
    TutorPart,
    repeatable,
)
from stanchion.tutor.playing.bundle_files import Chosen
from stanchion.tutor.playing.recordings import Played, Recorder, to_lines
from stanchion.tutor.playing.surroundings import environment, repository, tutor_hash

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
        played: Played,
        model: Model,
        benchmark: Benchmark,
        path: str | Path | None = None,
        chosen: Chosen | None = None,
        run: Any = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.run_id = str(uuid4())
        repeatable(model)
        self.path = _own(self.run_id) if path is None else Path(path)
        self._played, self._model, self._benchmark = played, model, benchmark
        self._chosen = Chosen() if chosen is None else chosen
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
            result=Result(
                turns=episode.turns,
                model_calls=trace.calls,
                score=episode.score,
                won=episode.won,
                stopped=episode.stopped or None,
            ),
        )

    def _policy(self, config: EnvelopeConfig) -> Policy:
        file, bundle, refusal = self._chosen.file, self._chosen.bundle, self._chosen.refusal
        data = None if file is None else file.metadata
        return Policy(
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


def _repairs(trace: Trace) -> RepairStats:
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
