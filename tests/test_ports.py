"""A port is kept for who chose it, whether anybody listens there or not."""

import socket

import pytest

from tests.ports import Port


def test_nobody_else_is_given_a_port_that_is_held() -> None:
    port = Port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port.number))
    port.release()


def test_a_server_can_be_started_on_it_again_and_again() -> None:
    port = Port()
    for _ in range(2):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port.number))
        with socket.create_server(("127.0.0.1", port.number)) as server:
            socket.create_connection(server.getsockname()).close()
    port.release()
