"""What is not worth a line is turned away in any language; a short fact is not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from valor.junk import why_junk

JUNK = {
    "empty": ["", "   ", "\n\t\n", "\u3000"],
    "acknowledgement": [
        "ok",
        "OK!",
        "okay, done",
        "Done.",
        "thanks",
        "Thank you so much!",
        "thx :)",
        "Got it, will do.",
        "Sounds good to me",
        "Looks good, go ahead!",
        "LGTM 👍",
        "yes please",
        "Perfect, thank you!",
        "You're absolutely right!",
        "Great question!",
        "Sure thing.",
        "Understood, I'll get on it.",
        "hello there",
        "Good morning!",
        "It works now",
        "All done, thanks a lot",
        "No problem at all",
        "**Great!**",
        "Ok. Continue.",
        "danke",
        "Vielen Dank!",
        "Alles klar, mach weiter",
        "Erledigt.",
        "merci beaucoup !",
        "D'accord, c'est bon",
        "Parfait",
        "muchas gracias",
        "Listo, perfecto",
        "De acuerdo.",
        "grazie mille",
        "Va bene, fatto",
        "muito obrigado",
        "Tudo bem, feito",
        "dank je wel",
        "Klaar!",
        "tack så mycket",
        "tusen takk",
        "dziękuję bardzo",
        "děkuji moc",
        "спасибо большое",
        "Готово, понял",
        "дякую",
        "teşekkürler, tamam",
        "terima kasih banyak",
        "cảm ơn",
        "شكرا",
        "תודה רבה",
        "धन्यवाद",
        "ευχαριστώ",
        "好的，谢谢",
        "明白了",
        "没问题！",
        "搞定了",
        "收到，完成了",
        "了解しました",
        "ありがとうございます！",
        "承知いたしました。",
        "はい、わかりました",
        "네, 알겠습니다",
        "감사합니다",
        "완료했습니다.",
        "ขอบคุณครับ",
        "Okay, that makes sense.",
        "Sounds like a plan",
        "I'll take a look",
        "Let me check that for you.",
        "Thanks, that fixed it!",
        "Alright, moving on.",
        "Fair enough",
        "Good catch!",
        "My bad",
        "Das sieht gut aus",
        "Super, danke dir",
        "C'est noté, merci",
        "sí, adelante",
        "Ottimo lavoro",
        "Obrigado pela ajuda",
        "Tack, det ser bra ut",
        "Dzięki za pomoc",
        "Спасибо за помощь",
        "да, продолжай",
        "谢谢你的帮助",
        "知道了，谢谢",
        "問題ありません",
        "확인했습니다",
    ],
    "refusal": [
        "I can't help with that.",
        "I'm sorry, but I can't assist with this request.",
        "I cannot provide that information",
        "Unfortunately, I am unable to access the file.",
        "I’m unable to help with this request.",
        "As an AI language model, I do not have opinions.",
        "I don't have enough information to answer.",
        "I won't be able to complete this.",
        "Nothing worth remembering in this session.",
        "No new learnings to record.",
        "There is nothing to extract from this transcript.",
        "Dabei kann ich leider nicht helfen.",
        "Es tut mir leid, aber das kann ich nicht.",
        "Désolé, je ne peux pas vous aider.",
        "Lo siento, no puedo ayudar con eso.",
        "Mi dispiace, non posso aiutarti.",
        "Desculpe, não posso ajudar com isso.",
        "Sorry, daar kan ik je niet mee helpen.",
        "К сожалению, я не могу помочь.",
        "抱歉，我无法回答这个问题。",
        "申し訳ありませんが、お手伝いできません。",
        "죄송합니다. 도와드릴 수 없습니다.",
        "I'm not able to browse the internet.",
        "I'm afraid I can't help.",
        "I don't know.",
        "The transcript contains nothing worth remembering.",
        "No relevant memories found.",
    ],
    "json_shrapnel": [
        '{"a":',
        "{}",
        "[]",
        '{"a": 1, "b": [2, 3]}',
        '"summary": "x", "tags": ["y"]',
        '}, {"role": "user",',
        '\\"content\\": \\"ok\\"',
        '["a","b","c"',
        '","type":"text"}]}',
        '{"tool_use_id":"toolu_01","type":"tool_result","content":"',
    ],
    "fragment": [
        "]}",
        "...",
        "---",
        "12345",
        "👍",
        "42%",
        "});",
        "TypeError",
        "src/app/main.py",
        "https://example.org/a",
        "foo bar baz",
        "test test",
        "asdf asdf",
        "hello world",
        "and then the",
        "it is",
        "this one",
        "the connection pool is exhausted because",
        "Fails on Windows when using the",
        ", which is why",
        "} else {",
        "return x;",
        "const a = 1;",
        "because of a…",
        "in order to",
        "see the",
        "TODO: fix",
        "import os",
        "def foo():",
        "src/a.py src/b.py",
        "if x:",
        "a b c",
        "的",
        "それ",
    ],
    "stub_echo": [
        '<thought id="obs-1790000000-3f9a1c2b7d04">[error] uv cache is read-only in the sandbox</thought>',
        "From memory: <thought id='obs-1-ab'>[decision] Use flock</thought>",
        "&lt;thought id=&quot;obs-1&quot;&gt;[pattern] Retry twice&lt;/thought&gt;",
        "<thought id=obs-17>[learning] CI needs Python 3.11",
    ],
    "boilerplate": [
        "<system-reminder>The TodoWrite tool hasn't been used recently.</system-reminder>",
        "Caveat: The messages below were generated by the user while running local commands.",
        "<command-name>/clear</command-name>",
        "<local-command-stdout></local-command-stdout>",
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation that ran out of context.",
        "Exit code 1",
        "exit code: 127",
        "Command failed with exit code 2",
        "(no output)",
        "No matches found",
        "Tool ran without output or errors",
        "Todos have been modified successfully. Ensure that you continue to use the todo list",
        "The file /a/b.py has been updated. Here's the result of running `cat -n` on it",
        "File created successfully at: /a/b",
        "Traceback (most recent call last):",
        "Command timed out after 2m 0s",
        "diff --git a/x.py b/x.py",
        "@@ -1,7 +1,9 @@ def main():",
        "12 passed in 0.53s",
        "3 files changed, 12 insertions(+), 4 deletions(-)",
        "All tests passed",
        "API Error: 529 overloaded",
        "Already up to date.",
        "0 errors, 0 warnings",
        "Compiled successfully",
        "+++ b/src/app.py",
        "commit 1a2b3c4d",
        "On branch main",
        "drwxr-xr-x 2 root root 4096 Jan 1 00:00 .",
        "npm ERR! code 1",
        "The user doesn't want to proceed with this tool use.",
        "[Image #1]",
        "N/A",
        "none",
        "TODO",
    ],
}

WORTH = [
    "Redis needs PING before use",
    "CI needs Python 3.11",
    "uv cache not writable in sandbox",
    "Use flock, not lockf",
    "Fix typo",
    "Tests require Docker",
    "Exit code 1 means that nothing was found",
    "No output is printed unless a terminal is attached",
    "pytest -x stops at the first failure",
    "Claude Code wraps hook output in <system-reminder> tags",
    "Recall prints stubs as <thought id=…> lines",
    "The stub <thought> is escaped before it is printed",
    "I can't reproduce the failure with Python 3.12",
    "Cannot bind port 8080 twice",
    "Sorry page is served from the CDN",
    "Unfortunately the ORM caches NULLs",
    "Thanks to the lock, eight writers are safe",
    "OK status is returned even on failure",
    "Done flag must be reset between runs",
    "No new migrations are needed for this column",
    "Nothing restarts the worker after an OOM kill",
    "There is no way to reload the config at run time",
    'Set "timeout": 5 in settings.json, it counts seconds',
    '{"a":1}{"b":2} on one line is reported as a bad line',
    "The API returns [] instead of null for empty lists",
    "{name} placeholders are expanded lazily by the logger",
    "[ci] Pin the runner image",
    "`git stash` loses the index",
    "Traceback is swallowed by the pool's worker",
    "All tests pass only with TZ=UTC",
    "Yes/no prompts hang in CI because stdin is closed",
    "Great care: the migration locks the table",
    "ok() returns Option, not Result",
    "Call poll before doing I/O",
    "add RAM disk for faster test I/O",
    "vite caches env",
    "Never edit dist/",
    "Die Tests brauchen Docker",
    "Le cache n'est pas partagé entre workers",
    "La caché no se comparte",
    "Кэш не очищается",
    "テストにはRedisが必要",
    "キーが無いと例外になる",
    "缓存不可写",
    "测试需要Docker",
    "테스트에 Redis가 필요하다",
    "ต้องรันด้วย Python 3.11",
    "TypeError: 'NoneType' is raised by the old parser",
    "Make it work on Windows paths",
    "return early when the list is empty",
    "import order matters for gevent",
    "Thanks to caching the second run is quick",
    "Let's Encrypt allows five certificates a week",
    "I don't know how, but TZ leaks into the worker",
    "No relevant index exists for this query",
    "ok is returned by /health before the database is up",
    "looks like flock is advisory on NFS",
    "it turns out the queue drops large messages",
    "not thread-safe",
    "null is serialised as an empty string",
    "CIではTZがUTC",
    "from imports are hoisted by the bundler",
]


@pytest.mark.parametrize(
    ("reason", "text"), [(reason, text) for reason, texts in JUNK.items() for text in texts]
)
def test_junk_is_turned_away_with_a_reason(reason: str, text: str) -> None:
    assert why_junk(text) is not None


def test_the_reason_names_the_kind_of_junk() -> None:
    wrong = [
        (text, why_junk(text)) for reason, texts in JUNK.items() for text in texts if why_junk(text) != reason
    ]
    assert len(wrong) <= 5, wrong


@pytest.mark.parametrize("text", WORTH)
def test_a_short_fact_is_accepted(text: str) -> None:
    assert why_junk(text) is None


def test_there_is_enough_to_judge_by() -> None:
    assert sum(map(len, JUNK.values())) >= 150
    assert len(WORTH) >= 50


@pytest.mark.parametrize("summary", ["Refactor", "ok", "Done.", "because of the"])
def test_details_that_say_something_excuse_a_bare_summary(summary: str) -> None:
    assert why_junk(summary) is not None
    assert why_junk(summary, "The pool is created once per process, so forked workers share it.") is None
    assert why_junk(summary, "ok, thank you") is not None


@pytest.mark.parametrize("summary", ["I can't help with that.", '{"a": 1}', "(no output)"])
def test_details_do_not_excuse_a_refusal_shrapnel_or_noise(summary: str) -> None:
    assert why_junk(summary, "The pool is created once per process, so forked workers share it.") is not None


def test_an_echoed_stub_is_found_in_the_details_too() -> None:
    assert why_junk("Retries twice on 503", '<thought id="obs-1">[error] x</thought>') == "stub_echo"


@pytest.mark.parametrize(
    "piece", ["ok ", "{", '{"a":', "sorry ", "I can't ", "the ", "了解", '"', "\\", "a", " ", "[["]
)
def test_a_hostile_text_is_judged_in_one_pass(piece: str) -> None:
    why_junk(piece * (64 * 1024 // len(piece)), piece * (64 * 1024 // len(piece)))


SHARED = Path(os.environ.get("VALOR_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus is not on this machine")
def test_of_ten_thousand_commit_messages_next_to_none_is_junk() -> None:
    lines = (SHARED / "corpus" / "commits.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    junk = [record["id"] for record in records if why_junk(record["summary"], record.get("details", ""))]
    assert len(junk) <= 0.002 * len(records), junk
