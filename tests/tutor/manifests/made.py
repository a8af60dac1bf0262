"""A manifest for tests, of a run of the Tutor with every field filled."""

from __future__ import annotations

from stanchion.tutor.manifests.manifest import (
    TUTOR,
    Benchmark,
    Checksums,
    Environment,
    Manifest,
    Model,
    Outputs,
    PolicyPart,
    RepairStats,
    RepositoryPart,
    ResultPart,
    TutorPart,
)

HASH = "sha256:" + "0" * 64


def made() -> Manifest:
    """The manifest of a run that was repaired twice."""
    return Manifest(
        kind=TUTOR,
        run_id="7b0c6c1e-8f6e-4a39-9d2c-0f0f3f6f2a11",
        environment=Environment(
            timestamp_start="2026-01-02T10:00:00Z",
            timestamp_end="2026-01-02T10:00:01Z",
            duration_seconds=1.25,
            python_version="3.12.1",
            platform="linux-x86_64",
            hostname="here",
        ),
        repository=RepositoryPart(
            git_commit="a" * 40, git_dirty=False, git_branch="main", git_tags=("v1",)
        ),
        tutor=TutorPart(
            api_version="0.1.0",
            law="2",
            tutor_file_hash=HASH,
            envelope_enabled=True,
            envelope_config={"layer1_schema": "strict", "repair_trigger_verdicts": ["ILL_TYPED"]},
        ),
        model=Model(temperature=0.0, model_id="m", provider="p", top_p=1.0, max_tokens=10, seed=4),
        benchmark=Benchmark(
            benchmark_files_hash=HASH, benchmark_ids=("01",), benchmark_version="1.0.0", round=4
        ),
        policy=PolicyPart(
            bundle_enabled=True,
            bundle_path="b.json",
            bundle_hash=HASH,
            compiled_by="c",
            compiled_at="2026-01-01",
        ),
        outputs=Outputs(
            jsonl_log="t.jsonl", csv_features="f.csv", manifest_file="m.json", recording="r.jsonl"
        ),
        checksums=Checksums(jsonl_log_hash=HASH, csv_features_hash=HASH, recording_hash=HASH),
        repair_stats=RepairStats(total_retries=2, retries_per_turn=(0, 2)),
        result=ResultPart(turns=2, model_calls=4, score=-3, won=False, stopped="a budget"),
    )
