"""Stand between the proxy and a server, and write down what the server is asked and answers:
`python -m tools.mcp_suite.tap FILE COMMAND...`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO


def main(file: Path, words: list[str]) -> int:
    """Pass everything on; gives the server's exit status."""
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    asked: dict[Any, dict[str, Any]] = {}
    with file.open("w", encoding="utf-8") as out:

        def down(said: BinaryIO) -> None:
            for line in said:
                message = json.loads(line)
                if "result" in message and message.get("id") in asked:
                    request = asked.pop(message["id"])
                    answer = {"result": message["result"]}
                    out.write(json.dumps({**request, **answer}, sort_keys=True) + "\n")
                    out.flush()
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()

        reading = threading.Thread(target=down, args=(server.stdout,), daemon=True)
        reading.start()
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message.get("method") in ("tools/list", "tools/call"):
                params = {k: v for k, v in message.get("params", {}).items() if k != "_meta"}
                asked[message.get("id")] = {"method": message["method"], "params": params}
            server.stdin.write(line)
            server.stdin.flush()
        server.stdin.close()
        reading.join(timeout=30)
    return server.wait()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
