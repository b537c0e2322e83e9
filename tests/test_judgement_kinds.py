"""What is easily judged wrongly, one test a kind.

What is asserted is the least: no auto verdict where two facts are told, an auto or proposed
replacement where one is said in so many words, no proposal of a duplicate where the later denies.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from claims import EARLIER, between, earlier, later, verdict

from valor.consolidate import guards
from valor.consolidate.tokenizing import tokenize

JOB = "The pricing job runs hourly."
TITLE = "Cache the parsed manifest between runs"
COMMIT = "4e1f0c9ab27d"
WHY = "The lock is taken by the first worker while the second waits for the pool of the third."


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise in the middle of whatever takes longer, a regular expression included."""
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def is_left_to_a_person(result: str) -> bool:
    return not result.startswith("auto")


# A. merged or marked without asking, though nothing says so


@pytest.mark.parametrize(
    "text",
    [
        f"The importer no longer needs a lock; see {EARLIER} for the journal.",
        f"See {EARLIER}: instead of the batch size one may tune the interval.",
        f"Supersedes obs-1790000000-00000000cccc; background in {EARLIER}.",
        f"This line is replaced by {EARLIER}.",
        f"Is {EARLIER} obsolete? Nobody has checked.",
        f"If {EARLIER} is wrong, the recovery test needs another bound.",
        f"It was said that {EARLIER} is outdated, but it still holds.",
        f"Unlike the pool, which was replaced, the journal works as {EARLIER} says.",
        f"Reverted the bump of tokio, unrelated to {EARLIER}.",
        f"Confirms {EARLIER}: the claim that it was wrong came from an old build.",
    ],
)
def test_a_cue_that_is_not_about_the_named_line_does_not_replace_it(text: str) -> None:
    assert is_left_to_a_person(between("The journal is fsynced once per batch.", text))


def test_a_correction_of_something_else_does_not_replace_the_line_it_points_to() -> None:
    by = later("The reader tolerates a torn tail.", f"See {EARLIER}.", type="correction")
    assert is_left_to_a_person(verdict(earlier("The journal is fsynced once per batch."), by))


@pytest.mark.parametrize(
    "text",
    [
        "The pricing job runs hourly and no longer leaks.",
        "The pricing job runs hourly since the reporting job no longer blocks it.",
        "The pricing job runs hourly, but no longer on Sundays.",
        "The pricing job no longer runs hourly on the staging host.",
        "If the pricing job no longer runs hourly, page the owner.",
        "It is not true that the pricing job no longer runs hourly.",
        "Nobody says that the pricing job no longer runs hourly.",
        "Does the pricing job no longer run hourly?",
        "Maybe the pricing job no longer runs hourly.",
        "The pricing job will no longer run hourly once v2 is out.",
        "The pricing job that runs hourly stopped the pager noise.",
        "The hourly run of the pricing job stopped on an error.",
    ],
)
def test_no_longer_counts_only_of_what_the_earlier_line_says(text: str) -> None:
    assert is_left_to_a_person(between(JOB, text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gateway retries GET of the client.", "The client no longer retries GET of the gateway."),
        ("The worker waits for the reader lock.", "The reader no longer waits for the worker lock."),
        ("The proxy fails on big bodies.", "The test of the proxy no longer fails on big bodies."),
        ("Port 8080 of the proxy is open.", "Port 8080 of the proxy is no longer blocked, it is open."),
        ("The pricing job does not run hourly.", "The pricing job does not run hourly any more."),
    ],
)
def test_no_longer_with_other_roles_or_of_what_was_denied_replaces_nothing(one: str, other: str) -> None:
    assert is_left_to_a_person(between(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("shared", "sharded"),
        ("reused", "refused"),
        ("existing", "exiting"),
        ("relayed", "replayed"),
        ("caches", "catches"),
        ("retired", "retried"),
        ("tracing", "tracking"),
        ("phases", "phrases"),
        ("assets", "asserts"),
        ("compiled", "complied"),
        ("trials", "trails"),
        ("contacts", "contracts"),
        ("servers", "severs"),
        ("handlers", "handles"),
        ("deleted", "depleted"),
        ("convert", "covert"),
        ("complete", "compete"),
        ("simulated", "stimulated"),
        ("hosting", "hoisting"),
        ("defined", "defied"),
        ("causes", "clauses"),
        ("signed", "singed"),
        ("preset", "present"),
        ("closest", "closets"),
        ("discreet", "discrete"),
        ("planner", "planer"),
        ("reacted", "redacted"),
    ],
)
def test_two_real_words_a_letter_apart_are_not_a_typo(one: str, other: str) -> None:
    frame = "The broker of the region says {} on the tenants of the pool"
    assert is_left_to_a_person(between(frame.format(one), frame.format(other)))
    assert is_left_to_a_person(between(frame.format(other), frame.format(one)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`==`,", "`!=`,"),
        ("`{}`", "`[]`"),
        ("`*`", "`?`"),
        ("`$?`", "`$!`"),
        ("`;`", "`,`"),
        ("`.`", "`..`"),
        ("`save!`", "`save?`"),
        ("`save`", "`save!`"),
        ("`src/*`", "`src/**`"),
        ("`(a)`", "`[a]`"),
        ("rows -> files", "rows <- files"),
        ("rows → files", "rows ← files"),
        ("done: ✅", "done: ❌"),
        ("hits + misses", "hits - misses"),
        ("hits * misses", "hits / misses"),
        ("`hits - misses`", "`hits + misses`"),
    ],
)
def test_two_symbols_are_two_facts(one: str, other: str) -> None:
    frame = "The default of the router in the web app is {}"
    assert is_left_to_a_person(between(frame.format(one), frame.format(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`-f`", "`-F`"),
        ("-v", "-V"),
        ("`Makefile`", "`makefile`"),
        ("`userId`", "`userID`"),
        ("10Mb", "10MB"),
        ("5m", "5M"),
        ("the IT team", "the it team"),
        ("US hosts", "us hosts"),
    ],
)
def test_the_case_of_code_units_and_acronyms_counts(one: str, other: str) -> None:
    frame = "The runner of the web app asks for {} in the morning"
    assert is_left_to_a_person(between(frame.format(one), frame.format(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Add users to the admins group", "Remove admins from the users group"),
        ("Adding a column locks the table", "Dropping a column locks the table"),
        ("Enabling the profiler slows the build", "Disabling the profiler slows the build"),
        ("Creating an index takes a share lock", "Dropping an index takes a share lock"),
        ("Added columns are ignored by the mapper", "Removed columns are ignored by the mapper"),
        ("Disabled users keep their sessions", "Enabled users keep their sessions"),
        ("Deleted rows stay in the cache for a minute", "Created rows stay in the cache for a minute"),
        ("Enable the cache in tests", "Disable the cache, not in tests"),
        ("Add no header to calls of the proxy", "Remove no header from calls of the proxy"),
    ],
)
def test_a_verb_takes_back_only_what_it_does_to_the_same_thing_in_the_same_role(one: str, other: str) -> None:
    assert is_left_to_a_person(between(one, other))


@pytest.mark.parametrize(
    "text",
    [
        f'Do not revert "{TITLE}"',
        f'Someone should revert "{TITLE}" if it breaks',
        f'The test quotes revert "{TITLE}"',
    ],
)
def test_a_reversal_that_is_denied_wished_or_quoted_reverts_nothing(text: str) -> None:
    assert is_left_to_a_person(between(TITLE, text))


@pytest.mark.parametrize("details", [f"This does not revert commit {COMMIT}.", f"Do not revert {COMMIT}!"])
def test_a_denied_reversal_of_a_commit_reverts_nothing(details: str) -> None:
    one = earlier("Bump the runtime of the agent", references=[COMMIT])
    assert is_left_to_a_person(verdict(one, later("Keep it", details)))


def test_a_whole_title_does_not_revert_a_narrower_line_that_begins_with_it() -> None:
    assert is_left_to_a_person(between(f"{TITLE} only on Linux", f'Revert "{TITLE}"'))


@pytest.mark.parametrize(
    ("details", "more"),
    [
        (
            "The cache of npm is pruned before each job.",
            "The first theory: the cache of npm is pruned before each job. It is wrong, the disk is slow.",
        ),
        (
            "",
            "Correction of the line above: this is false, each tenant has a pool, the old one is gone.",
        ),
        (
            "The cache of npm is pruned before each job.",
            "The cache of npm is pruned before each job. But only for forks, and since the move of the racks"
            " to the new building it is not so on weekdays.",
        ),
    ],
)
def test_details_that_deny_or_limit_are_no_explanation_however_long(details: str, more: str) -> None:
    one, other = (
        earlier("The build is slow on the runner", details),
        later("The build is slow on the runner", more),
    )
    assert is_left_to_a_person(verdict(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Deadlock of the worker pool in the importer",
            "Deadlock of the worker pool in the importer on Windows",
        ),
        ("The worker pool drops it after 3 retries", "The worker pool drops it from v3"),
    ],
)
def test_a_headline_that_adds_a_condition_is_not_the_same_under_equal_details(one: str, other: str) -> None:
    assert is_left_to_a_person(verdict(earlier(one, WHY), later(other, WHY)))


def test_a_version_is_not_a_count() -> None:
    assert [token.key for token in tokenize("v3")] != [token.key for token in tokenize("3")]
    assert [token.key for token in tokenize("v1.2")] == [token.key for token in tokenize("1.2")]


def test_a_platform_in_front_limits_even_where_the_other_side_names_none() -> None:
    assert is_left_to_a_person(between("windows: temp files stay locked", "temp files stay locked"))


def test_tags_of_which_each_side_has_its_own_are_left_to_a_person() -> None:
    text, mine, yours = "The linter is slow on big files", ["web", "ci"], ["api", "ci"]
    assert is_left_to_a_person(verdict(earlier(text, tags=mine), later(text, tags=yours)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The pool is closing on the cancel of a job", "The pool is closed on the cancel of a job"),
        ("Jobs are locked by the runner of the app", "Jobs are locking by the runner of the app"),
    ],
)
def test_what_does_and_what_is_done_are_two_facts(one: str, other: str) -> None:
    assert is_left_to_a_person(between(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The proxy just retries the GET requests", "The proxy retries the GET requests"),
        ("Plan A is used by the billing of the app", "Plan is used by the billing of the app"),
        ("The A record of the domain is stale", "The record of the domain is stale"),
    ],
)
def test_a_word_that_limits_or_names_is_no_filler(one: str, other: str) -> None:
    assert is_left_to_a_person(between(one, other))


# A, the other way: what is the same and is not seen


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The importer really skips blank lines", "The importer skips blank lines"),
        ("The importer basically skips blank lines", "The importer simply skips blank lines"),
        ("The pool is currently shared by tenants", "The pool is shared by tenants"),
        ("You can't attach to the guest on pause", "You cannot attach to the guest on pause"),
        ("The linter doesn't see the generated files", "The linter does not see the generated files"),
        ("The keep-alive of the mesh is 30s", "The keep-alive of the mesh is 30 s"),
        ("Le fichier verrou n'est pas supprimé", "Le fichier verrou n’est pas supprimé"),
        ("ビルドはプロキシの背後で失敗する。", "ビルドはプロキシの背後で失敗する"),
        ("测试数据库每晚重建。", "测试数据库每晚重建"),
        ("It is what it is", "it is what it is."),
    ],
)
def test_fillers_contractions_units_and_full_stops_of_any_script_say_nothing(one: str, other: str) -> None:
    assert between(one, other) == "auto:duplicate"


@pytest.mark.parametrize("path", ["./run", "../lib", "~/conf"])
def test_a_relative_path_is_a_path(path: str) -> None:
    assert [token.is_path for token in tokenize(path)] == [True]


@pytest.mark.parametrize("name", ["db-3", "utf-8", "gpt-4"])
def test_a_number_behind_a_hyphen_is_no_plain_word(name: str) -> None:
    assert all(not token.key.isdigit() or token.kind.name == "NUMBER" for token in tokenize(name))


def test_an_exclamation_mark_that_stands_alone_says_nothing() -> None:
    assert [token.text for token in tokenize("Le test échoue !")] == ["Le", "test", "échoue"]


def test_a_difference_is_told_in_the_words_that_were_written() -> None:
    found = guards.polarity(
        earlier("it always runs before the commit"), later("it always runs after the commit")
    )
    assert found is not None and (found.one, found.other) == (("before",), ("after",))


# B. said in so many words, and not seen as a replacement


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The exporter locks the whole table.", "The exporter doesn't lock the whole table anymore."),
        (
            "Use black for formatting the tools folder.",
            "Use ruff instead of black for formatting the tools folder.",
        ),
        ("Flags are read from flags.yaml.", "flags.toml replaces flags.yaml for the flags."),
        (
            "The search page uses the Lunr index.",
            "The Lunr index of the search page was replaced by Pagefind.",
        ),
        ("Pinned numpy to 1.26 for the break.", "The pin of numpy 1.26 was rolled back."),
        (
            "Enabled the upgrade in the ingress.",
            "Disabled the upgrade in the ingress again because streams broke.",
        ),
        (
            "Turned on autovacuum for events.",
            "Turned off autovacuum for events: it fought with the nightly job.",
        ),
        ("The build agent has 8 cores.", "Correction: the build agent has 4 cores, not 8."),
        (
            "Sessions are stored in the cookie.",
            "Contrary to what was noted, sessions are stored in Redis, not in the cookie.",
        ),
        ("The command is called `otter sync`.", "The command `otter sync` was renamed to `otter pull`."),
        (
            "Use `client.fetch_all()` to page.",
            "`client.fetch_all()` is deprecated, use `client.pages()` to page.",
        ),
        ("The batch size of the loader is 500.", "The batch size of the loader was raised from 500 to 2000."),
        (
            "The limits come from our own limiter.",
            f"The limits do not come from our own limiter as {EARLIER} claims.",
        ),
        ("Der Build braucht Java 17.", "Der Build braucht kein Java 17 mehr."),
        (
            "Die Konfiguration liegt in app.ini.",
            "Die Konfiguration liegt nicht mehr in app.ini, sondern in app.toml.",
        ),
        ("Le script de déploiement utilise rsync.", "Le script de déploiement n'utilise plus rsync."),
        ("On formate avec prettier.", "On formate avec biome au lieu de prettier."),
        ("El servicio usa la cola antigua.", "El servicio ya no usa la cola antigua."),
    ],
)
def test_a_replacement_in_so_many_words_is_seen_as_one(one: str, other: str) -> None:
    assert between(one, other).endswith(":supersedes")


def test_a_line_that_drops_the_work_of_a_commit_is_seen_as_replacing_it() -> None:
    one = earlier("Serialise the uploads with a global lock", references=[COMMIT])
    assert verdict(one, later(f"Drop the global lock of commit {COMMIT}")).endswith(":supersedes")


# C. proposed as a duplicate, though the later denies, limits or adds


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Config lives in hull.yaml.",
            "hull.yaml has been renamed to hull.toml, the config lives there now.",
        ),
        ("Only admins see the export button.", "Admins also see the export button."),
        ("The poll interval is read as 250 ms.", "The poll interval is read as 250 s."),
        ("Rows are locked and versioned.", "Rows are locked or versioned."),
        ("Der Importer bricht bei leeren Zeilen ab.", "Der Importer bricht bei leeren Zeilen nicht ab."),
        ("Le client ferme la connexion.", "Le client ne ferme pas la connexion."),
        ("The deploy needs the KMS role.", "The deploy also needs the KMS role of the replica region."),
        ("The tail command loses the last line.", "The tail command loses the last line only on Windows."),
    ],
)
def test_a_denial_a_limit_or_an_addition_is_not_proposed_as_a_duplicate(one: str, other: str) -> None:
    assert not between(one, other).endswith(":duplicate")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (JOB, "The reporting job no longer runs hourly."),
        (
            "The lock file is needed by the installer.",
            "If the lock file is not needed any more, delete its job.",
        ),
    ],
)
def test_another_subject_or_a_condition_is_not_proposed_as_a_replacement(one: str, other: str) -> None:
    assert not between(one, other).endswith(":supersedes")


def test_the_same_details_in_another_order_are_not_proposed() -> None:
    one = earlier("How the queue orders jobs", "By priority, then by age of the job.")
    other = later("How the queue orders jobs", "By age of the job, then by priority.")
    assert not verdict(one, other).endswith(":duplicate")


# what a newcomer found


@pytest.mark.parametrize(
    "label", ["FALSE", "Myth", "Rejected", "Wrong", "Question", "TODO", "Hypothesis", "Fix", "api"]
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_label_on_one_side_alone_is_never_passed_over(label: str, turned: bool) -> None:
    texts = ["The allocator leaks 4 KB a request", f"{label}: the allocator leaks 4 KB a request"]
    assert is_left_to_a_person(between(*(texts[::-1] if turned else texts)))


@pytest.mark.parametrize("label", ["FALSE", "Myth", "Rejected", "Wrong", "Correction"])
def test_a_line_that_retracts_another_word_for_word_is_proposed_as_replacing_it(label: str) -> None:
    found = between("Retries are idempotent in the client", f"{label}: retries are idempotent in the client")
    assert found == "suggest:supersedes"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The flag -f forces the push", "The flag -F forces the push"),
        ("src/a.py holds the worker pool", "src/A.py holds the worker pool"),
        ("The page cache takes 5 MB", "The page cache takes 5 Mb"),
        ("Import `foo` before the hooks run", "Import `Foo` before the hooks run"),
        ("PATH is read before the hooks run", "path is read before the hooks run"),
        ("The glob *.py matches the tests", "The glob .py matches the tests"),
        ("The webhook is signed by the proxy", "The webhook is signed by the proxy?"),
        ("The client gave up hoping for a reply", "The client gave up hopping for a reply"),
    ],
)
def test_a_small_sign_makes_another_fact(one: str, other: str) -> None:
    assert is_left_to_a_person(between(one, other))
    assert is_left_to_a_person(between(other, one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Enable HTTP/2 for the API", "Disable HTTP/2 for the API?"),
        ("Enable the theta flag", "TODO: disable the theta flag"),
        ("Add swap when memory is low", "Remove swap when memory is low"),
        ("Turn on the flag to see traces", "Turn off the flag to see traces"),
        ("Enable autovacuum to fix bloat", "Disable autovacuum to fix bloat"),
        ("The worker limit is 5", "The worker limit was raised from 5 to 9 in staging"),
        ("The job limit was raised from 5 to 9", "The job limit was raised from 5 to 9 for admins"),
        ("The omega limit is 5", "Proposal: the omega limit was raised from 5 to 9"),
        ("The page cache is 1 GB", "The page cache was raised from 1 GB to 2 GB and reverted the same day"),
        ("Upsilon crashes on start", "TODO check: upsilon no longer crashes on start"),
        ("Rho crashes on start", "Rho no longer crashes on start, we think"),
        ("The queue needs two consumers", f"I doubt that {EARLIER} is wrong"),
        ("The disk fills up at night", f"Correction: {EARLIER} is wrong only on staging"),
    ],
)
def test_a_doubt_a_condition_or_a_part_is_no_replacement(one: str, other: str) -> None:
    assert is_left_to_a_person(between(one, other))


def test_a_reversal_in_another_place_is_no_reversal() -> None:
    one, other = earlier("Enable the gamma flag", "in prod"), later("Disable the gamma flag", "in staging")
    assert is_left_to_a_person(verdict(one, other))


@pytest.mark.parametrize(
    "unit",
    [
        'revert "',
        "instead of ",
        "replace x with ",
        "no longer ",
        "not ",
        "\n",
        "1 ",
        "n'a ",
        "`",
        "[a] ",
        "**a ",
        "kein x ",
    ],
)
def test_no_text_that_fits_in_a_line_makes_one_pair_slow(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    # A bound that no machine misses: what was quadratic here took a minute.
    with alarm(20):
        verdict(earlier("The pool leaks", text), later(text))
        verdict(earlier(text), later(f"{text}x"))
