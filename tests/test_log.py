from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from valor import log
from valor.errors import LockBusy, Unavailable

WRITER = """
import sys
from pathlib import Path
from valor import log, record
for n in range(int(sys.argv[3])):
    line = record.encode({"id": f"{sys.argv[2]}-{n}", "summary": "x" * (n % 400)})
    log.append(Path(sys.argv[1]), [line], 60)
    print(n, flush=True)
"""
HOLDER = """
import sys, time
from pathlib import Path
from valor import log
with log.appending(Path(sys.argv[1]), 10):
    print("held", flush=True)
    time.sleep(600)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def read(path: Path) -> list[log.Line | log.Bad]:
    return list(log.lines(path))


def records(path: Path) -> list[dict[str, object]]:
    return [line.record for line in read(path) if isinstance(line, log.Line)]


def bad(path: Path) -> list[log.Bad]:
    return [line for line in read(path) if isinstance(line, log.Bad)]


def test_eight_processes_append_200_lines_each_and_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    writers = [start(WRITER, path, name, 200) for name in "abcdefgh"]
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    ids = [data["id"] for data in records(path)]
    assert len(ids) == 1600
    assert len(set(ids)) == 1600
    assert not bad(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["log.jsonl"]


def test_kill_9_tears_at_most_the_line_in_flight_and_the_next_append_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    acknowledged = 0
    for round_ in range(8):
        writer = start(WRITER, path, f"round{round_}", 100000)
        assert writer.stdout
        for _ in range(20 + 7 * round_):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        rest = writer.communicate()[0]
        acknowledged += 20 + 7 * round_ + len(rest.splitlines())
    log.append(path, [b'{"id":"after"}\n'], 1)
    assert records(path)[-1] == {"id": "after"}
    assert len(bad(path)) <= 8
    assert len(records(path)) - 1 >= acknowledged


def test_a_killed_lock_holder_blocks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    holder = start(HOLDER, path)
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(LockBusy):
        log.append(path, [b"{}\n"], 0.1)
    holder.kill()
    holder.communicate()
    started = time.monotonic()
    log.append(path, [b'{"id":"next"}\n'], 5)
    assert time.monotonic() - started < 1
    assert records(path) == [{"id": "next"}]


def test_a_missing_final_newline_is_healed_first(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":"a"}')
    assert log.append(path, [b'{"id":"b"}\n'], 1) == 11
    assert path.read_bytes() == b'{"id":"a"}\n{"id":"b"}\n'


def test_a_torn_last_line_costs_that_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":"a"}\n{"id":"b","summ')
    log.append(path, [b'{"id":"c"}\n'], 1)
    assert [data["id"] for data in records(path)] == ["a", "c"]
    assert [(one.number, "torn" in one.reason) for one in bad(path)] == [(2, True)]


def test_a_line_cut_in_the_middle_costs_that_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [json.dumps({"id": f"o{n}", "summary": "text"}) for n in range(10)]
    lines[2] = lines[2][:9]
    path.write_text("\n".join(lines) + "\n")
    assert len(records(path)) == 9
    assert [one.number for one in bad(path)] == [3]


def test_nul_bytes_and_broken_utf8_cost_their_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":"a"}\n\0\0\0{"id":"b"}\n{"id":"\xff"}\n{"id":"d"}\n')
    assert [data["id"] for data in records(path)] == ["a", "d"]
    assert [one.number for one in bad(path)] == [2, 3]


def test_blank_lines_crlf_and_a_bom_read_as_if_they_were_not_there(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id":"a"}\r\n\r\n   \n\n{"id":"b"}\r\n\xef\xbb\xbf\n')
    assert [data["id"] for data in records(path)] == ["a", "b"]
    assert not bad(path)


def test_each_line_knows_its_number_and_where_it_starts(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes('\n{"id":"é"}\nbad\n{"id":"b"}'.encode())
    data = path.read_bytes()
    found = [line for line in read(path) if isinstance(line, log.Line)]
    assert [line.number for line in found] == [2, 4]
    assert [data[line.offset : line.offset + len(line.raw)] for line in found] == [line.raw for line in found]


def test_a_line_of_15_megabytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(json.dumps({"id": "big", "details": "x" * 15_000_000}).encode() + b'\n{"id":"b"}\n')
    assert [data["id"] for data in records(path)] == ["big", "b"]


def test_an_append_follows_the_file_that_is_at_the_path_now(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":"old"}\n')
    holder = start(HOLDER, path)
    assert holder.stdout
    holder.stdout.readline()
    waiting = start(WRITER, path, "w", 1)
    replacement = tmp_path / "new"
    replacement.write_bytes(b'{"id":"pulled"}\n')
    replacement.replace(path)
    holder.kill()
    holder.communicate()
    waiting.communicate(timeout=60)
    assert [data["id"] for data in records(path)] == ["pulled", "w-0"]


def test_a_full_disk_adds_nothing_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":"a"}\n')
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from valor import log\n"
        "from valor.errors import Unavailable\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    log.append(Path(sys.argv[1]), [b'{\"id\":\"' + b'x' * 9000 + b'\"}\\n'], 1)\n"
        "except Unavailable as error:\n"
        "    print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert "could not be written" in done.stdout
    assert path.read_bytes() == b'{"id":"a"}\n'


def test_a_log_that_is_no_file_is_an_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        read(tmp_path)
    with pytest.raises(Unavailable):
        log.append(tmp_path, [b"{}\n"], 1)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Unavailable):
        log.append(tmp_path / "fifo", [b"{}\n"], 1)


def test_folders_are_made_where_there_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "log.jsonl"
    log.append(path, [b'{"id":"a"}\n'], 1)
    assert records(path) == [{"id": "a"}]


def test_a_file_replaced_during_the_write_gets_the_line_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":"old"}\n')
    real, replaced = os.fsync, []

    def fsync(fd: int) -> None:
        real(fd)
        if not replaced:  # as a checkout would, just when the line is on its way
            replaced.append(fd)
            path.unlink()
            path.write_bytes(b'{"id":"pulled"}\n')

    monkeypatch.setattr(os, "fsync", fsync)
    log.append(path, [b'{"id":"new"}\n'], 1)
    assert [data["id"] for data in records(path)] == ["pulled", "new"]
    log.append(path, [b'{"id":"next"}\n'], 1)  # no lock was left behind
    assert len(records(path)) == 3


def test_a_file_that_git_is_about_to_put_back_is_not_made_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":"old"}\n')
    path.unlink()
    writer = start(WRITER, path, "w", 1)
    # git creates exclusively: a file of ours would stop its checkout
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    writer.communicate(timeout=60)
    assert [data["id"] for data in records(path)] == ["w-0"]


def test_reading_a_pipe_in_the_place_of_the_log_is_an_error_and_no_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Unavailable):
        read(tmp_path / "fifo")
