"""Forks daemons that refuse everything, for a test that kills and stops them in the middle.

Each line of standard input is the version that the next one speaks and how long it judges; its
process is written back.
"""

import os
import socket
import sys
import time

import msgspec

from stanchion.hosts.coding import AGENTS, CodingAgent, HostAnswer, carrier
from stanchion.hosts.coding.speaker import Speaker, Speakers
from stanchion.ops.daemon import server


def main(path: str, port: int) -> None:
    """Fork a daemon for each line."""
    pid = 0
    for line in sys.stdin:
        if pid:
            os.waitpid(pid, 0)  # it was killed, and lets go of the port when it is gone
        version, judges_s = line.split()
        if os.path.exists(path):
            os.unlink(path)
        local, tcp = socket.socket(socket.AF_UNIX), socket.socket()
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tcp.bind(("127.0.0.1", port))
        local.bind(path)
        for each in (local, tcp):
            each.listen()
        pid = os.fork()
        if not pid:
            serve(local, tcp, port, int(version), float(judges_s))
        local.close()
        tcp.close()
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def serve(
    local: socket.socket, tcp: socket.socket, port: int, version: int, judges_s: float
) -> None:
    """Refuse whatever is heard, after a while."""

    def hear(agent: CodingAgent, body: bytes, _: Speaker) -> HostAnswer:
        time.sleep(judges_s)
        return agent.refusal(msgspec.json.decode(body)["hook_event_name"], "the daemon says no")

    vars(server)["PROTOCOL"] = version
    server.HookServer(AGENTS, Speakers(AGENTS.values()), hear, port).serve(local, tcp)
    os._exit(0)


if __name__ == "__main__":
    assert carrier.PROTOCOL
    main(sys.argv[1], int(sys.argv[2]))
