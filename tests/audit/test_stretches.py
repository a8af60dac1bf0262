"""A file read in blocks gives the same lines as one read at once, from either end."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, strategies as st

from stanchion.audit.segment_scan import stretches, stretches_back

LINES = st.lists(
    st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"-") + b"\n"), max_size=12
)


@given(LINES, st.sampled_from([b"", b"torn"]), st.integers(1, 40), st.data())
def test_all_lines_are_there_and_whole(
    lines: list[bytes], torn: bytes, block: int, data: st.DataObject
) -> None:
    whole = b"".join(lines) + torn
    upto = data.draw(st.integers(0, len(lines)))
    end = len(b"".join(lines[:upto]))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "00000001.jsonl"
        path.write_bytes(whole)
        ahead = list(stretches(path, block))
        back = list(stretches_back(path, None, block))[::-1]
        before = list(stretches_back(path, end, block))[::-1]
    for found, text in ((ahead, whole), (back, whole), (before, whole[:end])):
        assert b"".join(piece for _, piece in found) == text
        assert all(text[at : at + len(piece)] == piece for at, piece in found)
        assert all(piece.endswith(b"\n") for _, piece in found[:-1] if piece)


def test_a_file_that_is_gone_has_none(tmp_path: Path) -> None:
    assert [*stretches(tmp_path / "gone"), *stretches_back(tmp_path / "gone")] == []


def test_a_file_that_is_cut_meanwhile_gives_the_lines_that_stay(tmp_path: Path) -> None:
    path = tmp_path / "00000001.jsonl"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(9)))
    reading = stretches_back(path, None, 16)
    assert next(reading)[1] == b"line 7\nline 8\n"
    path.write_bytes(b"line 0\nline 1\nto")
    left = b"".join(data for _, data in reversed(list(reading)))
    assert left == b"line 0\nline 1\nto"
