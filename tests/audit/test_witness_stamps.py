"""A witness by a timestamp service: its tokens are checked, and its time is the service's."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rfc3161_client", reason="the extra `timestamp` is not installed")

from stanchion.audit.verify import CannotVerify, read_witness
from stanchion.audit.witnessing.names import place_named
from stanchion.audit.witnessing.place import BadPlace, Unreachable, WitnessEntry
from stanchion.audit.witnessing.stamps import StampedPlace
from stanchion.stores.memory import wall_ms
from tests.audit import stamping
from tests.audit.forging import ONE, Draft

pytestmark = pytest.mark.skipif(
    stamping.OPENSSL is None, reason="there is no `openssl` to be a timestamp service"
)

HEAD = Draft(ONE).begin().work(3).mark().head or b""
LONG_AGO = 1_700_000_000_000


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> stamping.Service:
    """The service with its keys, which all tests share."""
    return stamping.Service(tmp_path_factory.mktemp("service"))


@pytest.fixture
def service(keys: stamping.Service) -> Iterator[stamping.Service]:
    """The service as it answers at first."""
    yield keys
    keys.answers = keys._signed


@pytest.fixture
def place(service: stamping.Service, tmp_path: Path) -> Iterator[StampedPlace]:
    """A place with one line, which says that it was written long ago."""
    with stamping.serving(service) as url:
        found = StampedPlace(url, tmp_path / "tokens.jsonl", service.root)
        found.append(WitnessEntry((HEAD,), LONG_AGO, 60))
        yield found


@pytest.fixture(params=["UTC", "Pacific/Auckland"])
def _zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_zone")
def test_the_time_is_what_the_service_says(place: StampedPlace) -> None:
    before = wall_ms()
    place.append(WitnessEntry((), LONG_AGO, 60))
    found = place.witness(0)
    assert found.broken == ()
    assert len(found.lines) == 2
    # The service counts whole seconds.
    assert before - 1000 <= found.lines[1].at <= wall_ms() + 1000


def test_what_is_kept_is_a_plain_witness_as_well(place: StampedPlace, tmp_path: Path) -> None:
    found = read_witness("w", (tmp_path / "tokens.jsonl").read_bytes())
    assert [line.at for line in found.lines] == [LONG_AGO]


def test_the_certificate_of_somebody_else_vouches_for_nothing(
    place: StampedPlace, service: stamping.Service, tmp_path: Path
) -> None:
    other = StampedPlace("http://nowhere.invalid/", tmp_path / "tokens.jsonl", service.stranger)
    assert "cannot be trusted" in other.witness(0).broken[0][1]


def test_without_a_certificate_nothing_is_verified(place: StampedPlace, tmp_path: Path) -> None:
    with pytest.raises(CannotVerify, match="--tsa-cert"):
        StampedPlace("http://nowhere.invalid/", tmp_path / "tokens.jsonl", None).witness(0)


def tampered(path: Path, tamper: str) -> None:
    """Change the token of the only line."""
    line, token = path.read_bytes().splitlines()
    said = json.loads(token)
    answer = bytearray(base64.b64decode(said["token"]))
    match tamper:
        case "taken away":
            path.write_bytes(line + b"\n")
            return
        case "a byte changed":
            answer[-5] ^= 1
        case "cut":
            del answer[-9:]
        case "no base64":
            said["token"] = "*"
        case "another line":
            line = line.replace(b'"every":60', b'"every":61')
            from stanchion.audit.witnessing.place import hash_of

            said["of"] = hash_of(line)
    if said["token"] != "*":
        said["token"] = base64.b64encode(answer).decode()
    path.write_bytes(line + b"\n" + json.dumps(said, separators=(",", ":")).encode() + b"\n")


@pytest.mark.parametrize(
    "tamper", ["taken away", "a byte changed", "cut", "no base64", "another line"]
)
def test_a_token_that_does_not_fit_its_line(
    place: StampedPlace, tmp_path: Path, tamper: str
) -> None:
    assert place.witness(0).broken == ()
    tampered(tmp_path / "tokens.jsonl", tamper)
    assert "token" in place.witness(0).broken[0][1]


@pytest.mark.parametrize("answer", ["garbage", "empty", "of another query", "of a stranger"])
def test_an_answer_that_is_none_is_not_kept(
    place: StampedPlace, service: stamping.Service, tmp_path: Path, answer: str
) -> None:
    before = (tmp_path / "tokens.jsonl").read_bytes()
    first = base64.b64decode(json.loads(before.splitlines()[1])["token"])
    answers = {"garbage": b"<html>", "empty": b"", "of another query": first}
    if answer == "of a stranger":
        place = StampedPlace(place._url, tmp_path / "tokens.jsonl", service.stranger)
    else:
        service.answers = lambda _: answers[answer]
    with pytest.raises(Unreachable, match="token"):
        place.append(WitnessEntry((), LONG_AGO, 60))
    assert (tmp_path / "tokens.jsonl").read_bytes() == before


def test_a_service_that_refuses_is_told(place: StampedPlace, service: stamping.Service) -> None:
    # PKIStatus 2, rejection, and no token.
    service.answers = lambda _: bytes.fromhex("30053003020102")
    with pytest.raises(Unreachable, match="gave no token"):
        place.append(WitnessEntry((), LONG_AGO, 60))


def test_a_service_that_is_away_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="cannot be asked"):
        StampedPlace("http://127.0.0.1:9/", tmp_path / "tokens.jsonl", None).append(
            WitnessEntry((), LONG_AGO, 60)
        )
    assert (tmp_path / "tokens.jsonl").read_bytes() == b""


@pytest.mark.parametrize("said", [None, b"no certificate"])
def test_a_certificate_that_is_none(tmp_path: Path, said: bytes | None) -> None:
    if said is not None:
        (tmp_path / "root.pem").write_bytes(said)
    with pytest.raises(BadPlace, match="certificate"):
        StampedPlace("http://nowhere.invalid/", tmp_path / "tokens.jsonl", tmp_path / "root.pem")


def test_tokens_are_kept_beside_the_trail_or_where_it_is_said(tmp_path: Path) -> None:
    beside = place_named("tsa+https://ann:secret@stamps.internal/tsr", tmp_path / "trail", None)
    assert beside.name == f"tsa+https://…@stamps.internal/tsr#{tmp_path}/trail-tokens.jsonl"
    there = place_named("tsa+https://stamps.internal/tsr#/srv/tokens", tmp_path / "trail", None)
    assert there.name == "tsa+https://stamps.internal/tsr#/srv/tokens"
    with pytest.raises(BadPlace, match="say where the tokens are kept"):
        place_named("tsa+https://stamps.internal/tsr", None, None)
