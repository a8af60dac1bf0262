"""Three processes spend one budget, first on PostgreSQL, then on Redis; their records are one
trail."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from servers import postgres, redis

WORKERS = [f"clerk-{number}" for number in range(1, 4)]
HERE = Path(__file__).parent


def work(settings: dict[str, str]) -> list[tuple[int, str]]:
    """Let all workers begin together; gives for each how many calls it made, and the code of its
    refusal."""
    begun = [
        subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), name],
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in WORKERS
    ]
    for worker in begun:
        assert worker.stdout is not None
        if worker.stdout.readline() != "ready\n":
            raise SystemExit("a worker did not start: what it says is above")
    came = [worker.communicate("go\n")[0].split() for worker in begun]
    return [(int(made), code) for made, code in came]


def main() -> int:
    """Let the fleet work on both stores, and verify the trail of all of them."""
    with (
        tempfile.TemporaryDirectory(prefix="fleet-") as place,
        postgres() as database,
        redis() as cache,
    ):
        settings = {
            "STANCHION_STATE_DIR": place,
            "STANCHION_AUDIT": database,
            "STANCHION_TENANT": "archive",
        }
        for title, store in (("PostgreSQL", database), ("Redis", cache)):
            came = work({**settings, "STANCHION_STORE": store})
            made, codes = sum(calls for calls, _ in came), {code for _, code in came}
            print(f"{title}: {len(came)} processes, $1.00, $0.03 a call")
            print(f"  went ahead  {made} calls, ${made * 0.03:.2f}")
            print(f"  refused     {len(came)} calls, {', '.join(sorted(codes))}")
        command = [sys.executable, "-m", "stanchion", "audit", "verify", database]
        done = subprocess.run(
            command, env={**os.environ, **settings}, capture_output=True, text=True, check=False
        )
        print(
            "the trail of all is", (done.stdout or done.stderr).splitlines()[-1].partition(":")[0]
        )
        return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
