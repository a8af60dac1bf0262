"""Over TLS the server is who it says it is, or nothing is sent to it."""

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from stanchion.kernel.state import Batch, Line, key
from stanchion.stores.protocol import StoreError
from stanchion.stores.redis import RedisStore
from tests.stores import redis_server
from tests.stores.redis_proxy import Proxy
from tests.stores.redis_server import Server

server = redis_server.server

A = key("t", "a")
LINES = (Line(A),)


def make_certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """A certificate that vouches for itself, and its key."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
    certificate = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
        .not_valid_before(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(names, critical=False)
        .sign(private, hashes.SHA256())
    )
    key_file, file = folder / f"{host}.key", folder / f"{host}.pem"
    secret = serialization.NoEncryption()
    key_file.write_bytes(
        private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret)
    )
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return file, key_file


def serve(server: Server, file: Path, key_file: Path) -> Proxy:
    """A proxy that speaks TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key_file)
    return Proxy(server.socket, context)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for this host, and its key."""
    return make_certificate(tmp_path, "127.0.0.1")


@pytest.fixture
def proxy(server: Server, certificate: tuple[Path, Path]) -> Iterator[Proxy]:
    """A proxy before the server, which speaks TLS."""
    with serve(server, *certificate) as proxy:
        yield proxy


def test_threads_and_loops(proxy: Proxy, certificate: tuple[Path, Path]) -> None:
    store = RedisStore(f"{proxy.url}?ssl_ca_certs={certificate[0]}")
    assert store.carry(Batch("one", "t", lines=LINES)).values == (0,)
    large = "x" * 300_000

    async def many() -> list[int]:
        lines = (Line(key("t", large)), *LINES)
        await store.acarry(Batch("large", "t", lines=lines))
        stale = await store.acarry(Batch("stale", "t", expects=((key("t", large), 5, 6),)))
        assert stale.fresh[0].number == 1
        replies = await asyncio.gather(
            *[store.acarry(Batch(f"b{n}", "t", lines=LINES)) for n in range(20)]
        )
        return [reply.values[0] for reply in replies]

    assert asyncio.run(many()) == list(range(2, 22))
    assert [cell.key for cell in store.look()] == [A, key("t", large)]
    store.close()


def test_a_certificate_nobody_vouches_for(proxy: Proxy) -> None:
    with pytest.raises(
        StoreError, match=r"has a certificate that is not trusted .self.signed.*: give its CA with"
    ):
        RedisStore(proxy.url)
    assert proxy.commands == []
    store = RedisStore(f"{proxy.url}?ssl_cert_reqs=none")
    assert store.carry(Batch("one", "t", lines=LINES)).go
    store.close()


def test_a_certificate_for_another_host(server: Server, tmp_path: Path) -> None:
    file, key_file = make_certificate(tmp_path, "127.0.0.9")
    with (
        serve(server, file, key_file) as proxy,
        pytest.raises(
            StoreError, match=r"has a certificate that is not trusted \(IP address mismatch"
        ),
    ):
        RedisStore(f"{proxy.url}?ssl_ca_certs={file}")


def test_files_that_are_no_certificates(
    proxy: Proxy, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("x", encoding="utf-8")
    for options in (
        f"ssl_ca_certs={tmp_path}/none",
        f"ssl_ca_certs={tmp_path}/text",
        f"ssl_ca_certs={certificate[0]}&ssl_certfile={certificate[0]}",
    ):
        with pytest.raises(
            StoreError,
            match=r"certificates for .* cannot be read .*give PEM files with `ssl_ca_certs`",
        ):
            RedisStore(f"{proxy.url}?{options}")


def test_a_client_that_shows_a_certificate(server: Server, certificate: tuple[Path, Path]) -> None:
    file, key_file = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key_file)
    context.load_verify_locations(file)
    context.verify_mode = ssl.CERT_REQUIRED
    with Proxy(server.socket, context) as proxy:
        store = RedisStore(
            f"{proxy.url}?ssl_ca_certs={file}&ssl_certfile={file}&ssl_keyfile={key_file}"
        )
        assert store.carry(Batch("one", "t", lines=LINES)).go
        store.close()
        with pytest.raises(StoreError):
            RedisStore(f"{proxy.url}?ssl_ca_certs={file}")


def test_one_side_that_does_not_speak_tls(server: Server, proxy: Proxy) -> None:
    with pytest.raises(
        StoreError, match=r"does not speak TLS as expected|closed the connection|did not answer"
    ):
        RedisStore(f"rediss://127.0.0.1:{server.port}", timeout_s=0.5)
    with pytest.raises(StoreError, match=r"closed the connection|cannot be reached"):
        RedisStore(f"redis://127.0.0.1:{proxy.port}")
