"""Hook events to weighted terms."""

from __future__ import annotations

from valor.window import CHANGED, MOST_TERMS, SUBJECT, TEXT, opens_window, prompt_query, window_query

ROOT = "/home/mira/atlas"


def weights(tool: str, asked: object, got: object = None, **more: object) -> dict[str, float]:
    event = {"hook_event_name": "PostToolUse", "cwd": ROOT, "tool_name": tool, **more}
    return window_query([{**event, "tool_input": asked, "tool_response": got}]).weights


def test_a_file_counts_by_its_name_and_by_its_folders_below_the_repository() -> None:
    found = weights("Read", {"file_path": f"{ROOT}/storage/blob_cache.py"})
    assert found["blob_cache"] == SUBJECT
    assert found["storag"] == TEXT
    assert not {"mira", "hom", "atla", "atlas"} & set(found)


def test_the_language_of_a_file_tells_nothing() -> None:
    found = weights("Grep", {"pattern": "evict"}, {"filenames": [f"{ROOT}/cache.py", f"{ROOT}/lru.py"]})
    assert "py" not in found
    assert {"evict", "cache.py", "lru"} <= set(found)


def test_a_path_outside_the_repository_keeps_its_last_parts() -> None:
    found = weights("Read", {"file_path": "/opt/vendor/lib/zlib/inflate.c"})
    assert {"inflat", "zlib"} <= set(found)
    assert "vendor" not in found


def test_a_windows_path_is_read_as_any_other() -> None:
    event = {"cwd": "C:\\src\\atlas", "tool_input": {"file_path": "C:\\src\\atlas\\io\\pipe.rs"}}
    assert set(window_query([event]).weights) == {"io", "pip", "pipe.rs"}


def test_changed_lines_count_more_than_the_lines_around_them() -> None:
    found = weights("Edit", {"old_string": "keep\nretry = 3", "new_string": "keep\njitter = 4"})
    assert found["jitter"] == found["retr"] == CHANGED
    assert found["keep"] == TEXT


def test_a_patch_in_the_answer_is_read_instead_of_the_strings_asked() -> None:
    hunk = {"lines": [" around", "-gone", "+come"]}
    found = weights(
        "Edit", {"old_string": "gone", "new_string": "come"}, {"structuredPatch": [hunk], "oldString": "gone"}
    )
    assert found == {"gon": CHANGED, "com": CHANGED, "around": TEXT}


def test_a_patch_given_as_text_names_its_file_and_its_changes() -> None:
    patch = "*** Begin Patch\n*** Update File: net/dial.go\n@@\n-timeout := 5\n+deadline := 9\n*** End Patch"
    found = weights("apply_patch", {"command": patch})
    assert found["dial"] == SUBJECT
    assert found["deadlin"] == CHANGED


def test_a_search_result_is_told_apart_into_file_and_line() -> None:
    found = weights("Grep", {"pattern": "x"}, {"content": "net/dial.go:12:\tctx := quux"})
    assert {"dial", "quux"} <= set(found)
    assert "12" not in found


def test_names_and_paths_in_a_command_count_more_than_the_program() -> None:
    found = weights("Bash", {"command": "cargo test -p atlas_core tests/wire_format.rs"})
    assert found["wire_format"] == found["atlas_core"] == SUBJECT
    assert found["cargo"] == TEXT


def test_a_failure_is_read_for_its_error() -> None:
    event = {"hook_event_name": "PostToolUseFailure", "tool_input": {}, "error": "Exit code 1\nEADDRINUSE"}
    assert window_query([event]).weights["eaddrinus"] == CHANGED


def test_repeats_count_a_little() -> None:
    found = weights("Bash", {}, {"stdout": "alpha alpha alpha beta"})
    assert found["beta"] == TEXT
    assert TEXT < found["alpha"] < 1.5 * TEXT


def test_other_harnesses_answers_are_read_too() -> None:
    assert "kelp" in weights("shell", {}, {"llmContent": "kelp", "error": None})
    assert "kelp" in weights("shell", {}, "kelp")
    assert "kelp" in weights("mcp__x__y", {}, [{"type": "text", "text": "kelp"}])
    assert "kelp" in weights("shell", {}, tool_output="kelp")


def test_values_of_any_shape_are_passed_over() -> None:
    odd: list[object] = [None, 7, True, [], {}, [1, [2]], {"file": 3}, {"structuredPatch": [1, {"lines": 2}]}]
    for value in odd:
        assert weights("Edit", value, value, cwd=value, error=value, prompt=value) == {}
        assert weights("Edit", {"file_path": value, "edits": value, "command": value}) == {}


def test_the_work_is_bounded_and_the_newest_event_goes_first() -> None:
    flood = " ".join(f"w{n}x" for n in range(50_000))
    old = {"tool_input": {}, "tool_response": flood}
    new = {"tool_input": {"pattern": "needle"}, "tool_response": flood}
    query = window_query([old] * 8 + [new])
    assert "needl" in query.weights
    assert len(query.weights) <= MOST_TERMS


def test_size_is_the_sum_of_the_weights() -> None:
    query = window_query([{"tool_input": {"pattern": "alpha beta"}}])
    assert query.size == sum(query.weights.values()) == 2 * SUBJECT


def test_a_prompt_of_few_words_is_short_and_a_tool_call_never_is() -> None:
    assert prompt_query("why does the flock hang?").short
    assert not prompt_query("one two three four five six seven eight nine").short
    assert not window_query([{"tool_input": {"pattern": "flock"}}]).short


def test_every_third_call_opens_a_window_and_without_a_transcript_every_one_does() -> None:
    assert [call for call in range(1, 10) if opens_window(call, transcript=True)] == [3, 6, 9]
    assert all(opens_window(call, transcript=False) for call in range(1, 10))
