"""Whether a later statement says that it replaces an earlier one."""

from __future__ import annotations

import pytest
from claims import EARLIER, earlier, later
from hypothesis import given
from hypothesis import strategies as st

from valor.consolidate import replacing
from valor.consolidate.claim import Claim
from valor.consolidate.replacing import ground
from valor.consolidate.reverting import reverted_titles
from valor.consolidate.statement import Statement

COMMIT = "4e1f0c9ab27d"


def told(one: Claim, other: Claim) -> tuple[str, bool] | None:
    """The rule that found a ground, and whether it is explicit."""
    found = ground(one, other)
    return (found.rule, found.explicit) if found else None


def sentences(one: str, other: str) -> tuple[str, bool] | None:
    return told(earlier(one), later(other))


# it names the line


@pytest.mark.parametrize(
    "text",
    [
        f"This replaces {EARLIER}.",
        f"Supersedes {EARLIER}: the pool is bounded.",
        f"Correction: {EARLIER} is wrong, the pool is bounded.",
        f"{EARLIER} is obsolete: the pool is bounded.",
        f"{EARLIER} no longer applies.",
        f"Reverts {EARLIER}.",
    ],
)
def test_a_line_that_names_another_and_says_it_no_longer_holds_replaces_it(text: str) -> None:
    assert sentences("The pool grows without a bound.", text) == ("names_the_line", True)
    assert told(earlier("The pool grows."), later("Note on the pool", text)) == ("names_the_line", True)


def test_a_correction_that_refers_to_the_line_and_says_so_replaces_it() -> None:
    by = later("The pool is bounded", "the earlier line was wrong", references=[EARLIER], type="correction")
    assert told(earlier("The pool grows."), by) == ("names_the_line", True)


@pytest.mark.parametrize(
    "text",
    [
        f"The reader is bounded; see {EARLIER}.",
        f"Does not replace {EARLIER}.",
        f"This doesn't supersede {EARLIER}.",
        f"It was never obsolete: {EARLIER}.",
        f"Confirmed {EARLIER} on the canary.",
        "This replaces obs-1790000000-00000000cccc.",
        "This replaces it.",
        "",
    ],
)
def test_a_mere_mention_replaces_nothing(text: str) -> None:
    assert sentences("The pool grows without a bound.", text) is None


# it reverts the commit


@pytest.mark.parametrize(
    "details",
    [
        f"This reverts commit {COMMIT}.",
        f"reverts {COMMIT[:7]}",
        f"Reverts commit {COMMIT.upper()}.",
        f"This reverts commit {COMMIT}0123456789abcdef.",
        f"Reverted ({COMMIT})",
    ],
)
def test_a_line_that_reverts_the_commit_of_another_replaces_it(details: str) -> None:
    one = earlier("Stream the export in chunks", references=[COMMIT])
    assert told(one, later("Export in one piece", details)) == ("reverts_the_commit", True)


@pytest.mark.parametrize(
    ("references", "details"),
    [
        ([COMMIT], "This reverts commit 0123456789ab."),
        ([COMMIT], f"See {COMMIT}."),
        (["src/a.py"], f"This reverts commit {COMMIT}."),
        ([], f"This reverts commit {COMMIT}."),
        ([COMMIT], "This reverts commit 4e1f."),
    ],
)
def test_another_commit_or_a_mere_mention_of_it_replaces_nothing(references: list[str], details: str) -> None:
    one = earlier("Stream the export in chunks", references=references)
    assert told(one, later("Bound the pool of the importer", details)) is None


def test_a_commit_reverted_in_part_is_only_proposed() -> None:
    one = earlier("Stream the export in chunks", references=[COMMIT])
    assert told(one, later("Less chunks", f"Partially reverts {COMMIT}.")) == ("reverts_the_commit", False)


# it reverts by the title


@pytest.mark.parametrize(
    "summary",
    [
        'Revert "Cache the parsed manifest between runs"',
        "Revert “Cache the parsed manifest between runs”",
        "revert: `cache the parsed manifest between runs`",
        'Reverts "Cache the parsed manifest between runs."',
        'build: Revert "Cache the parsed manifest between runs"',
        "Revert cache the parsed manifest between runs",
        "Reverted: cache the parsed manifest between runs",
    ],
)
def test_a_line_that_reverts_another_by_its_words_replaces_it(summary: str) -> None:
    assert sentences("Cache the parsed manifest between runs", summary) == ("reverts_by_title", True)


@pytest.mark.parametrize(
    "summary",
    [
        'Revert "Cache the parsed manifest"',
        'Revert "Cache the built manifest between runs"',
        'Revert "Do not cache the parsed manifest between runs"',
        "Revert",
        'Revert ""',
    ],
)
def test_other_words_revert_another_line(summary: str) -> None:
    assert sentences("Cache the parsed manifest between runs", summary) is None


def test_a_title_of_another_component_is_another_line() -> None:
    assert sentences("web: cache the manifest", 'Revert "api: cache the manifest"') is None
    assert sentences("web: cache the manifest", 'Revert "web: cache the manifest"') == (
        "reverts_by_title",
        True,
    )


def test_a_title_reverted_in_part_is_only_proposed() -> None:
    by = 'Partially revert "Cache the parsed manifest between runs"'
    assert sentences("Cache the parsed manifest between runs", by) == ("reverts_by_title", False)


def test_a_title_may_stand_in_the_details() -> None:
    one = earlier("Cache the parsed manifest between runs")
    by = later("Fix the build", 'It was slow.\nRevert "Cache the parsed manifest between runs"')
    assert told(one, by) == ("reverts_by_title", True)


def test_an_empty_line_is_reverted_by_nothing() -> None:
    assert sentences("", 'Revert ""') is None
    assert sentences("the", 'Revert "the"') is None


@pytest.mark.parametrize(
    ("summary", "titles"),
    [
        ('Revert "a b"', [("a b", True)]),
        ('Revert "Revert "a b""', [('Revert "a b"', True)]),
        ("Revert a b", [("a b", True)]),
        ('Partly revert "a b"', [("a b", False)]),
        ('Do not revert "a b"', []),
        ('The test quotes revert "a b"', [("a b", False)]),
        ("the pool leaks", []),
        ("", []),
    ],
)
def test_what_a_statement_reverts_is_read_from_its_words(
    summary: str, titles: list[tuple[str, bool]]
) -> None:
    assert list(reverted_titles(Statement(summary, ""))) == titles


# it takes back what was done


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Add a mutex around the token refresh", "Remove the mutex around the token refresh"),
        ("Enabled the upgrade in the ingress", "Disabled the upgrade in the ingress"),
        ("Disable the cache of the linter", "Enable the cache of the linter"),
        ("Allow uploads from guests", "Forbid uploads from guests"),
        ("Pin numpy in the image", "Unpin numpy in the image"),
        ("Remove the shim of the router", "Restore the shim of the router"),
        ("api: add the header to the calls", "api: drop the header from the calls"),
    ],
)
def test_a_verb_that_undoes_the_other_on_the_same_thing_replaces_it(one: str, other: str) -> None:
    assert sentences(one, other) == ("takes_back", True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Add a mutex around the token refresh", "Remove the mutex around the file refresh"),
        ("Add a mutex around the token refresh", "Remove the mutex"),
        ("Add --flag to the build", "Remove --other from the build"),
        ("Add the header to 5 calls", "Remove the header from 6 calls"),
        ("Add the header to calls", "Add the header to calls"),
        ("Add the header to calls", "Do not remove the header from calls"),
        ("api: add the header to calls", "web: drop the header from calls"),
        ("Add", "Remove"),
        ("Add it", ""),
    ],
)
def test_another_thing_is_not_taken_back(one: str, other: str) -> None:
    assert sentences(one, other) is None


def test_taking_back_a_part_is_only_proposed() -> None:
    assert sentences("Add headers to the calls", "Remove most headers from the calls") == (
        "takes_back",
        False,
    )


def test_a_reversal_with_the_others_very_reasons_is_a_contradiction() -> None:
    why = "The ingress resets streams of clients that speak the older protocol."
    one, other = (
        earlier("Enable the upgrade in the ingress", why),
        later("Disable the upgrade in the ingress", why),
    )
    assert told(one, other) is None


# it is no longer so


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The staging cluster shares the registry.", "The staging cluster no longer shares the registry."),
        ("The pricing job runs hourly on db-3.", "The pricing job does not run hourly on db-3 any more."),
    ],
)
def test_a_line_that_says_it_is_no_longer_so_replaces_it(one: str, other: str) -> None:
    assert sentences(one, other) == ("no_longer", True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The pricing job runs on port 8001.", "The pricing job no longer runs on port 8008."),
        ("The pricing job retries uploads.", "The linter no longer reads generated files."),
        ("api: the pool is shared by tenants", "web: the pool is no longer shared by tenants"),
        ("The pool leaks.", "No longer."),
        ("", "The pool no longer leaks."),
        ("The pricing job retries uploads.", "The pricing job retries uploads."),
    ],
)
def test_another_thing_that_is_no_longer_so_replaces_nothing(one: str, other: str) -> None:
    assert sentences(one, other) is None


def test_tags_that_have_nothing_in_common_keep_them_apart() -> None:
    one = earlier("The cluster shares the registry.", tags=["a"])
    assert told(one, later("The cluster no longer shares the registry.", tags=["b"])) is None
    assert told(one, later("The cluster no longer shares the registry.", tags=["a"])) == ("no_longer", True)


# in its place


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use black for formatting.", "For formatting use ruff instead of black."),
        ("Use black for formatting.", "For formatting use ruff rather than black."),
        (
            "The jobs of the importer run on cron.",
            "The jobs of the importer run on systemd in place of cron.",
        ),
        ("The images of the runner use pip.", "Replaced pip with uv for the images of the runner."),
        ("The ADRs are kept in docs/decisions.", "The ADRs moved from docs/decisions to adr/."),
    ],
)
def test_a_line_that_names_what_it_replaces_replaces_it(one: str, other: str) -> None:
    found = sentences(one, other)
    assert found is not None and found[0] == "instead_of"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use black for formatting the tools folder.", "Use tar instead of zip for the release assets."),
        ("Use zip for the release assets.", "The pool of the importer is slow instead of fast."),
        ("api: use pip for the images", "web: use uv instead of pip for the images"),
        ("", "Use uv instead of pip."),
    ],
)
def test_in_the_place_of_another_thing_replaces_nothing(one: str, other: str) -> None:
    assert sentences(one, other) is None


# all rules


def test_every_rule_is_listed_once() -> None:
    names = [rule.__name__ for rule in replacing.RULES]
    assert len(names) == len(set(names))
    assert set(names) >= {
        "names_the_line",
        "reverts_the_commit",
        "reverts_by_title",
        "takes_back",
        "no_longer",
        "instead_of",
    }


def test_the_reason_names_what_is_replaced() -> None:
    found = ground(earlier("The pool grows."), later(f"This replaces {EARLIER}."))
    assert found is not None and EARLIER in found.why
    found = ground(earlier("Add the header to calls"), later("Remove the header from calls"))
    assert found is not None and "Remove" in found.why and "Add" in found.why


@pytest.mark.parametrize(
    "text", ["word " * 5_000 + "no longer", "Revert " * 2_000, 'Revert "' * 2_000, "no " * 9_000]
)
def test_a_very_long_text_is_judged_in_reasonable_time(text: str) -> None:
    assert sentences("The pool grows without a bound.", text) is None


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_two_texts_break_a_rule(one: str, other: str) -> None:
    first, second = earlier(one, other), later(other, one)
    assert ground(first, second) == ground(first, second)


PLAIN = st.lists(
    st.sampled_from(["pool", "cache", "worker", "8080", "--flag", "src/a.py", "reads", "writes", "slow"]),
    max_size=8,
)


@given(PLAIN, PLAIN)
def test_texts_without_a_word_of_replacement_replace_nothing(one: list[str], other: list[str]) -> None:
    assert sentences(" ".join(one), " ".join(other)) is None


def test_a_name_with_colons_is_no_reason_behind_the_thing() -> None:
    assert sentences("Remove `Kind::None`", "Add a new `Kind::Unit` variant") is None
    assert sentences("Remove `Kind::None`", "Add `Kind::None`") == ("takes_back", True)
