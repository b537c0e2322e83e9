from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor.reference import pointed

ROOT = "/home/ada/project"


@pytest.mark.parametrize(
    ("text", "path", "lines"),
    [
        ("a.py", "a.py", (0, 0)),
        ("valor/log.py:42", "valor/log.py", (42, 42)),
        ("valor/log.py:10-20", "valor/log.py", (10, 20)),
        ("valor/log.py:10:5", "valor/log.py", (10, 10)),
        ("valor/log.py#L10", "valor/log.py", (10, 10)),
        ("valor/log.py#L10-L20", "valor/log.py", (10, 20)),
        ("tests/test_log.py::test_append", "tests/test_log.py", (0, 0)),
        ("valor/log.py:append", "valor/log.py", (0, 0)),
        ("docs/guide.md#setup", "docs/guide.md", (0, 0)),
        ("./docs//a b.md", "docs/a b.md", (0, 0)),
        ("docs/../src/größe.py", "src/größe.py", (0, 0)),
        (f"{ROOT}/src/a.py:3", "src/a.py", (3, 3)),
        ("Makefile:7", "Makefile", (7, 7)),
        ("src/", "src", (0, 0)),
    ],
)
def test_a_path_is_read_with_its_lines(text: str, path: str, lines: tuple[int, int]) -> None:
    found = pointed(text, ROOT)
    assert found
    assert (found.path, (found.first, found.last)) == (path, lines)


@pytest.mark.parametrize(
    "text",
    [
        "https://example.test/a.py",
        "file:///etc/passwd",
        "deadbeef",
        "9555bf1c0ffee",
        "obs-1790000000-3f9a1c2b7d04",
        "#12",
        "owner/repo#12",
        "HEAD:src/a.py",
        "JIRA:12x",
        "../outside.py",
        "src/../../outside.py",
        "/etc/passwd",
        f"{ROOT}-other/a.py",
        "~/notes.md",
        ".git/config",
        "a\nb.py",
        "a\0b.py",
        "",
        "   ",
    ],
)
def test_what_is_no_path_of_the_checkout_is_passed_over(text: str) -> None:
    assert pointed(text, ROOT) is None


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("src/a.py", True),
        ("a.py:10", True),
        (".github/workflows/ci.yml", True),
        ("src/größe.py", True),
        ("feature/login", False),
        ("numpy.linalg", False),
        ("node.js", False),
        ("python 3.11", False),
        ("docs.example.test/3/os.html", False),
        ("see src/a.py", False),
        ("src/*.py", False),
        ("Makefile", False),
    ],
)
def test_only_what_is_plainly_a_path_is_missed_without_git(text: str, sure: bool) -> None:
    found = pointed(text, ROOT)
    assert found
    assert found.sure is sure


@given(st.text(alphabet=st.sampled_from("ab./:#L0159-~ \\é@"), max_size=24))
def test_a_path_never_leads_out(text: str) -> None:
    found = pointed(text, ROOT)
    if found:
        assert not found.path.startswith("/")
        assert not {"..", ".", ""} & set(found.path.split("/"))
        assert 0 <= found.first <= found.last
