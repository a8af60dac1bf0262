"""Credentials at the edge: the service receives the secret, and nobody inside ever does."""

from __future__ import annotations

import ctypes
import gzip
import os
import pickle
import random
import re
import ssl
import subprocess
import sys
import zlib
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stanchion.hosts.http.outgoing import OutgoingRequest
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.policy.sections import CredentialEntry
from stanchion.runtime.door.credentials import (
    LEADING,
    CredentialWatch,
    DoorCredential,
    Secret,
    loaded,
)
from stanchion.runtime.door.heads import HeadFault
from stanchion.runtime.door.listeners import DoorError
from stanchion.runtime.door.packed import PackedLook, Unseen, packing
from tests.hosts.http.servers import Server, serving
from tests.runtime.door.conftest import SAYS
from tests.runtime.door.opened import Opened, asked, opened, said, shield_of

SECRET = "s3cr3t/Value+of-the=service"
PACKED = b64encode(f"agent:{SECRET}".encode()).decode()
pytestmark = pytest.mark.usefixtures("open_again")

FORMS: dict[str, tuple[dict[str, Any], str]] = {
    "bearer": ({}, f"Authorization: Bearer {SECRET}"),
    "basic": ({"form": "basic", "user": "agent"}, f"Authorization: Basic {PACKED}"),
    "header": ({"form": "header", "named": "X-Api-Key"}, f"X-Api-Key: {SECRET}"),
    "query": ({"form": "query"}, "?a=b&key=s3cr3t%2FValue%2Bof-the%3Dservice HTTP/1.1"),
}


def _policy(service: Server, monkeypatch: pytest.MonkeyPatch, **entry: Any) -> dict[str, Any]:
    monkeypatch.setenv("HUB_TOKEN", SECRET)
    place = f"secure.test:{service.port}"
    one = {"url": f"https://{place}/v1", "env": "HUB_TOKEN", "base_url": "HUB_URL", **entry}
    return {"credentials": {"hub": one}, "allowed_hosts": [place], "internal_hosts": [place]}


def _get(at: Opened, target: str, *headers: str) -> bytes:
    lines = [f"GET {target} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers, "", ""]
    return said(at.local[0], "\r\n".join(lines).encode())


def _written(at: Opened) -> str:
    """All that is written down of a run."""
    journal: Any = at.shield.journal
    records = [repr(one.read()) + str(one.body) for one in journal.kept()]
    return "".join([*records, *map(repr, journal.facts())])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ends", ["length", "chunked", "closed"])
def test_the_service_gets_the_secret_and_the_inside_never_does(
    form: str,
    ends: str,
    service: Server,
    trusting: ssl.SSLContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the service says back what it hears, in pieces of any size."""
    entry, sent = FORMS[form]
    policy = _policy(service, monkeypatch, **entry)
    names = {"secure.test": ["127.0.0.1"]}
    with opened(names, tls=trusting, **policy) as at:
        environment = at.door.environment()
        placeholder = environment["HUB_TOKEN"]
        assert environment["HUB_URL"] == "http://{}:{}".format(*at.local[0])
        told = [f"{sent.partition(':')[0]}: {placeholder}"] if form != "query" else []
        query = f"a=b&key={placeholder}" if form == "query" else "a=b"
        answer = _get(at, f"/{ends}?{query}", *told)
        assert at.decided == ["ALLOW"]
        (heard,) = service.heard
        assert sent in heard
        assert placeholder not in heard
        assert f"Host: secure.test:{service.port}" in heard
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert "Accept-Encoding: identity" in heard
        seen = answer.decode() + _written(at) + repr(environment) + repr(at.door.__dict__)
    for secret in (SECRET, PACKED, "s3cr3t", b64encode(SECRET.encode()).decode(), PACKED[:20]):
        assert secret not in seen
    assert "HUB_TOKEN" not in os.environ


def test_a_packed_answer_is_not_passed_on(
    service: Server, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = _policy(service, monkeypatch)
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        answer = _get(at, "/packed", "Accept-Encoding: br", "Range: bytes=0-4")
        assert answer.startswith(b"HTTP/1.1 403 Forbidden")
        assert at.decided == ["ALLOW", "door.packed"]
    assert "Range" not in service.heard[0]


@pytest.mark.parametrize("way", ["gzip", "two", "zlib", "zstd", "broken"])
def test_a_body_that_is_packed_and_does_not_say_so_is_not_passed_on_with_a_secret(
    way: str, service: Server, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where nobody can look into it."""
    policy = _policy(service, monkeypatch)
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        assert _get(at, f"/{way}").startswith(b"HTTP/1.1 403 Forbidden")
        assert at.decided == ["ALLOW", "door.packed"]


@pytest.mark.parametrize("way", ["archive", "short", "no%20pack"])
def test_a_packed_body_without_a_secret_is_passed_on_as_it_is(
    way: str, service: Server, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages are packed, and do not say so in a header."""
    policy = _policy(service, monkeypatch)
    monkeypatch.setitem(SAYS, "no%20pack", SAYS["no pack"])
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        assert _get(at, f"/{way}").partition(b"\r\n\r\n")[2] == SAYS[way](b"")
        assert at.decided == ["ALLOW"]


@pytest.mark.parametrize("size", [1, 7, 4_096])
def test_nothing_of_a_packed_secret_is_passed_on_before_all_of_it_was_seen(size: int) -> None:
    """Whatever the pieces: they wait until so much more of it was unpacked."""
    noise = random.Random(2).randbytes(20_000)
    packed = gzip.compress(noise + SECRET.encode() + noise)
    look = PackedLook(packing(packed), lambda data: SECRET.encode() in data, 100)
    passed = b""

    def pass_all() -> None:
        nonlocal passed
        for at in range(0, len(packed), size):
            passed += b"".join(look.passes(packed[at : at + size]))

    with pytest.raises(Unseen):
        pass_all()
    assert len(passed) > 0
    assert zlib.decompressobj(31).decompress(passed) in noise


@pytest.mark.parametrize("beside", range(4))
@pytest.mark.parametrize("pack", [b64encode, urlsafe_b64encode])
def test_a_secret_in_base64_is_hidden_wherever_it_begins(
    pack: Callable[[bytes], bytes], beside: int
) -> None:
    """What is left is less than a character of it at either end."""
    watch = _watch()
    for behind in (b"", b"}", b"&b"):
        packed = pack(b"a" * beside + SECRET.encode() + behind)
        seen = watch.hidden(packed)
        assert len(seen) == len(packed)
        left = urlsafe_b64decode(seen.translate(bytes.maketrans(b"*+/", b"A-_")))
        kept = left[beside : beside + len(SECRET)]
        assert kept[1:-1] == bytes(len(SECRET) - 2)
        assert SECRET.encode() not in left


@pytest.mark.parametrize(
    "escaped",
    [
        "".join([f"%{ord(one):02x}" for one in SECRET]),
        SECRET.replace("r", "%72").replace("V", "%56"),
        SECRET.replace("c", "\\u0063"),
        SECRET.replace("/", "\\/").replace("=", "\\u003D"),
        SECRET.replace("-", "&#45;").replace("t", "&#x74;"),
        SECRET.replace("a", "\\x61"),
        b64encode(SECRET.encode()).decode().replace("=", "%3D"),
    ],
)
def test_a_secret_with_characters_that_are_escaped_is_hidden(escaped: str) -> None:
    watch = _watch()
    assert len(escaped) <= watch.longest
    assert watch.hidden(f"<{escaped}>".encode()) == f"<{'*' * len(escaped)}>".encode()


def _watch() -> CredentialWatch:
    entry = CredentialEntry(url="https://secure.test")
    return CredentialWatch((DoorCredential("hub", entry, Secret(SECRET.encode())),))


def test_a_redirect_within_the_place_stays_at_the_local_door(
    service: Server, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = _policy(service, monkeypatch)
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        place = "http://{}:{}/there".format(*at.local[0])
        assert f"Location: {place}\r\n".encode() in _get(at, "/moved")


@pytest.mark.parametrize(
    "target",
    [
        "/../admin", "/%2e%2e/admin", "//other.test/", "@other.test/", "http://o.test/", "*",
        "/..;/admin", "/a/..;x/../admin", "/a%2F..%2fadmin", "/a%5c..%5Cadmin", "/.%2E/admin",
        "/a/%252e%252e/admin", "/...", "/a\\b",
    ],
)  # fmt: skip
def test_a_local_door_leads_to_one_place(
    target: str, service: Server, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = _policy(service, monkeypatch)
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        answer = _get(at, target)
    if target == "//other.test/":
        assert service.heard[0].startswith("GET /v1//other.test/ ")
    else:
        assert answer.startswith(b"HTTP/1.1 403 Forbidden")
        assert service.heard == []


@pytest.mark.parametrize(
    ("path", "target"),
    [("/v1", "/b?c=..%2f%25"), ("/v1", "/.well-known/a%20b"), ("", "/@scope%2fname")],
)
def test_what_leads_nowhere_else_is_passed_on(
    path: str,
    target: str,
    service: Server,
    trusting: ssl.SSLContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A place without a path has all of its host: packages of npm have `%2f` in their paths."""
    policy = _policy(service, monkeypatch)
    policy["credentials"]["hub"]["url"] = f"https://secure.test:{service.port}{path}"
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        assert _get(at, target).startswith(b"HTTP/1.1 200 OK")
    assert service.heard[0].startswith(f"GET {path}{target} ")


@pytest.mark.parametrize("name", [*sorted(LEADING), "X_Original_URL", "X-HTTP-Method-Override"])
def test_headers_that_make_another_request_of_it_are_not_passed_on(
    name: str, service: Server, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = _policy(service, monkeypatch)
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        assert _get(at, "/", f"{name}: /admin").startswith(b"HTTP/1.1 200 OK")
    assert "/admin" not in service.heard[0]


@pytest.mark.parametrize(
    ("host", "header", "reaches"),
    [
        ("127.0.0.1:3130", "Accept: */*", True),
        ("localhost", "Accept: */*", True),
        ("page.test:3130", "Accept: */*", False),
        ("127.0.0.1:3130", "Origin: https://page.test", False),
    ],
)
def test_a_page_in_a_browser_does_not_use_a_secret(
    host: str,
    header: str,
    reaches: bool,
    service: Server,
    trusting: ssl.SSLContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = _policy(service, monkeypatch)
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        head = f"GET / HTTP/1.1\r\nHost: {host}\r\n{header}\r\nConnection: close\r\n\r\n"
        answer = said(at.local[0], head.encode())
        assert answer.startswith(b"HTTP/1.1 200 OK" if reaches else b"HTTP/1.1 403 Forbidden")
    assert bool(service.heard) is reaches


def test_a_service_that_is_not_who_it_says_gets_nothing(
    service: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = _policy(service, monkeypatch)
    with opened({"secure.test": ["127.0.0.1"]}, **policy) as at:
        answer = _get(at, "/")
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway")
    assert b"its certificate does not hold: " in answer
    assert service.heard == []


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HUB_SECRET", raising=False)
    with pytest.raises(DoorError, match="the variable `HUB_SECRET` of credential `hub` is not set"):
        loaded({"hub": CredentialEntry(url="https://secure.test", env="HUB_SECRET")})


STRAYS = {
    "a header": "GET http://HOST/ HTTP/1.1|Host: HOST|X-Token: MARK||",
    "a login": "GET http://HOST/ HTTP/1.1|Host: HOST|Authorization: Basic LOGIN||",
    "a path": "GET http://HOST/MARK HTTP/1.1|Host: HOST||",
    "a query in percents": "GET http://HOST/?a=%2DMARK%2D HTTP/1.1|Host: HOST||",
    "a body": "PUT http://HOST/ HTTP/1.1|Host: HOST|Content-Length: LENGTH||MARK",
    "chunks": "PUT http://HOST/ HTTP/1.1|Host: HOST|Transfer-Encoding: chunked||SIZE|MARK|0||",
    "the head of a tunnel": "CONNECT HOST HTTP/1.1|Host: HOST|Proxy-Authorization: Bearer MARK||",
    "a name": "CONNECT MARK.public.test:443 HTTP/1.1|Host: public.test||",
    "the secret itself": "GET http://HOST/ HTTP/1.1|Host: HOST|X-Token: SECRET||",
    "the secret as a login": "GET http://HOST/ HTTP/1.1|Host: HOST|Authorization: Basic PACKED||",
}


@pytest.mark.parametrize("way", STRAYS)
def test_a_placeholder_that_strays_is_an_alarm(
    way: str, service: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server:
        place = f"public.test:{server.port}"
        policy = _policy(service, monkeypatch)
        allowed = [place, "*.public.test:443"]
        policy |= {"allowed_hosts": allowed, "internal_hosts": allowed}
        with opened({"public.test": ["127.0.0.1"]}, **policy) as at:
            mark = at.door.environment()["HUB_TOKEN"]
            login = b64encode(f"user:{mark}".encode()).decode()
            words = {"LOGIN": login, "PACKED": PACKED, "SECRET": SECRET, "HOST": place}
            words |= {"LENGTH": str(len(mark)), "SIZE": f"{len(mark):x}", "MARK": mark, "|": "\r\n"}
            wire = STRAYS[way]
            for word, meant in words.items():
                wire = wire.replace(word, meant)
            assert said(at.http, wire.encode()).startswith(b"HTTP/1.1 403 Forbidden")
            assert at.decided == ["door.strayed"]
            written = _written(at)
            assert "credential.strayed" in written
            assert SECRET not in written
        assert server.connections == 0


def test_a_placeholder_in_a_name_is_an_alarm(
    service: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is cut into labels, and by whichever way the name is asked for."""
    with opened(**_policy(service, monkeypatch)) as at:
        mark = at.door.environment()["HUB_TOKEN"].rpartition("-")[2]
        cut = ".".join(re.findall(".{1,5}", mark.upper()))
        assert asked(at.dns, f"{cut}.public.test") == (3, b"")
        name = f"{mark}.public.test".encode()
        ask = b"\5\1\0\5\1\0\3" + bytes([len(name)]) + name + b"\1\xbb"
        assert said(at.socks, ask)[:4] == b"\5\0\5\2"
        assert at.decided == ["door.strayed", "door.strayed"]
        assert _written(at).count("credential.strayed") >= 2


def test_the_placeholder_of_another_credential_strays_at_a_local_door(
    service: Server, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER", "another-secret")
    policy = _policy(service, monkeypatch)
    policy["credentials"]["other"] = {"url": "https://other.test", "env": "OTHER"}
    with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
        other = at.door.environment()["OTHER"]
        assert _get(at, f"/?a={other}").startswith(b"HTTP/1.1 403 Forbidden")
        assert at.decided == ["door.strayed"]
    assert service.heard == []


def test_a_command_does_not_run_where_others_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keys.py").write_text(f"print({SECRET!r})")
    monkeypatch.chdir(tmp_path)
    command = CredentialEntry(url="https://secure.test", command=("python3", "-m", "keys"))
    with pytest.raises(DoorError):
        loaded({"hub": command})


def test_a_secret_comes_from_where_the_policy_says(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    url = "https://secure.test"
    entries = {
        "file": CredentialEntry(url=url, file=str(file)),
        "command": CredentialEntry(url=url, command=("cat", str(file))),
    }
    for one in loaded(entries):
        assert SECRET.encode() in one.forms()
        assert SECRET not in repr(one)


@pytest.mark.parametrize(
    ("entry", "content"),
    [
        ({"env": "STANCHION_NO_SUCH"}, ""),
        ({"file": "FILE"}, "short"),
        ({"file": "FILE"}, f"{SECRET}\nanother line"),
        ({"file": "FILE"}, f"{SECRET}\0"),
        ({"file": "FILE/none"}, SECRET),
        ({"command": ("false",)}, SECRET),
        ({"command": ("sh", "-c", f"echo {SECRET}; echo {SECRET} >&2; exit 3")}, ""),
        ({"command": ("no-such-program",)}, ""),
    ],
)
def test_a_secret_that_is_not_to_be_had_is_told_without_it(
    entry: dict[str, Any], content: str, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_text(content)
    said = {
        key: str(file) + "/none" * value.endswith("none") if "FILE" in value else value
        for key, value in entry.items()
    }
    with pytest.raises(DoorError) as error:
        loaded({"hub": CredentialEntry(url="https://secure.test", **said)})
    assert "credential `hub`" in str(error.value)
    assert SECRET not in f"{error.value} {error.value.__cause__!r}"


def test_a_secret_shows_itself_nowhere() -> None:
    secret = Secret(SECRET.encode())
    one = DoorCredential("hub", CredentialEntry(url="https://secure.test"), secret)
    assert SECRET not in f"{secret} {secret!r} {one} {one!r} {CredentialWatch((one,))!r}"
    with pytest.raises(TypeError, match="not copied"):
        pickle.dumps(secret)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"url": "https://a.example"}, "comes from nowhere"),
        ({"url": "https://a.example", "env": "A", "file": "b"}, "comes from env and file"),
        ({"url": "http://a.example", "env": "A"}, "url: `"),
        ({"url": "a.example", "env": "A"}, "url: `"),
        ({"url": "https://u:p@a.example", "env": "A"}, "url: `"),
        ({"url": "https://a.example/?x=1", "env": "A"}, "url: `"),
    ],
)
def test_a_credential_that_makes_no_sense_is_refused(entry: dict[str, Any], says: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(says)):
        load_policy({"name": "a", "guards": [], "credentials": {"hub": entry}})


PROGRAM = """
import ctypes, os, resource, sys
from stanchion.policy.sections import CredentialEntry
from stanchion.runtime.door.credentials import loaded
found = loaded({"hub": CredentialEntry(url="https://secure.test", env="HUB_TOKEN")})
assert found[0].forms()
shown = open("/proc/self/environ", "rb").read() + open("/proc/self/cmdline", "rb").read()
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE)[0])
print(found[0].forms()[-1] in shown, "HUB_TOKEN" in os.environ)
sys.stdout.flush()
os.abort()
"""


def test_a_process_that_holds_a_secret_leaves_no_image_of_it(tmp_path: Path) -> None:
    """Not in what the kernel shows of its environment, and no core when it dies."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "HUB_TOKEN": SECRET},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -6
    assert done.stdout.split() == ["0", "0", "False", "False"]
    assert list(tmp_path.iterdir()) == []
    assert SECRET not in done.stderr


def test_programs_are_told_by_their_own_settings(
    service: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = _policy(service, monkeypatch, clients=["git", "npm", "pip"])
    with opened(**policy) as at:
        place = "http://{}:{}".format(*at.local[0])
        found = at.door.environment()
    assert found["PIP_INDEX_URL"] == place
    assert found["npm_config_registry"] == f"{place}/"
    assert found["GIT_CONFIG_COUNT"] == "1"
    assert found["GIT_CONFIG_KEY_0"] == f"url.{place}/.insteadOf"
    assert found["GIT_CONFIG_VALUE_0"] == f"https://secure.test:{service.port}/v1/"


def test_a_door_without_a_socket_for_a_credential_is_not_opened() -> None:
    from stanchion.runtime.door.door import Door
    from stanchion.runtime.door.listeners import Listeners

    entry = {"hub": {"url": "https://secure.test", "env": "HUB_TOKEN"}}
    listeners = Listeners.made(anywhere=True)
    with pytest.raises(DoorError, match="1 are needed"):
        Door(shield_of({}, credentials=entry).run(), listeners)
    listeners.close()
    assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 1


@pytest.mark.parametrize("wire", ["CONNECT /ok HTTP/1.1", "connect /ok HTTP/1.1"])
def test_a_secret_is_never_sent_where_nobody_has_shown_who_is_there(
    wire: str, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service speaks no TLS here: nothing that is asked for at the local door reaches it."""
    with serving() as server:
        policy = _policy(server, monkeypatch)
        with opened({"secure.test": ["127.0.0.1"]}, tls=trusting, **policy) as at:
            head = f"{wire}\r\nHost: 127.0.0.1\r\n\r\n".encode()
            assert said(at.local[0], head).startswith(b"HTTP/1.1 403 Forbidden")
            assert at.decided == ["door.head"]
        assert server.connections == 0


@pytest.mark.parametrize("url", ["https://secure.test/a", "https://other.test/a"])
@pytest.mark.parametrize("proven", ["", "other.test"])
def test_a_secret_is_put_into_nothing_but_a_proven_connection(url: str, proven: str) -> None:
    secret = Secret(SECRET.encode())
    one = DoorCredential("hub", CredentialEntry(url="https://secure.test:444"), secret)
    wire: Any = SimpleNamespace(proven=proven)
    with pytest.raises(HeadFault, match="nobody has shown"):
        one.put_into(OutgoingRequest("GET", url), wire)


def test_tls_that_checks_nothing_proves_nobody(
    service: Server, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    unchecked = ssl.create_default_context()
    unchecked.check_hostname = False
    unchecked.verify_mode = ssl.CERT_NONE
    policy = _policy(service, monkeypatch)
    with opened({"secure.test": ["127.0.0.1"]}, tls=unchecked, **policy) as at:
        assert _get(at, "/").startswith(b"HTTP/1.1 400 Bad Request")
    assert service.heard == []
