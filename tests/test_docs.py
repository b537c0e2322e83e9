"""What is not documented does not merge."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from valor import config, errors, record
from valor.cli.main import COMMANDS, app

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")])


def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    context = group.make_context("valor", [], resilient_parsing=True)
    found: dict[str, Any] = {}
    for name in COMMANDS:
        command = group.get_command(context, name)
        found[name] = command
        found |= {f"{name} {sub}": one for sub, one in getattr(command, "commands", {}).items()}
    return found


def test_the_command_reference_is_what_the_commands_say() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools/reference.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", commands())
def test_each_command_and_flag_has_its_entry_examples_and_exit_codes(name: str) -> None:
    page = (REFERENCE / "cli.md").read_text("utf-8")
    section = page.split(f"## valor {name}\n", 1)[1].split("\n## ")[0]
    command = commands()[name]
    if getattr(command, "commands", None):
        return
    for parameter in command.params:
        for option in parameter.opts:
            if option.startswith("-"):
                assert option in section
                assert parameter.help
    assert "Example" in section
    assert "Exit codes:" in section


def test_each_exit_code_has_its_entry() -> None:
    page = (REFERENCE / "exit-codes.md").read_text("utf-8")
    codes = {value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}
    assert codes == {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.M)}


def test_each_setting_and_variable_has_its_entry() -> None:
    page = (REFERENCE / "environment.md").read_text("utf-8")
    for setting in config.SETTINGS:
        default = str(setting.default).lower() or '""'
        assert f"| `{setting.key}` | `{setting.variable}` | `{default}` | {setting.meaning} |" in page
    named = set()
    for path in (ROOT / "valor").rglob("*.py"):
        named |= set(re.findall(r"env(?:iron)?(?:\.get\(|\[)\s*\"([A-Z_]+)\"", path.read_text("utf-8")))
    # The one module that reads them: any name in capitals there is a variable.
    for node in ast.walk(ast.parse((ROOT / "valor" / "config.py").read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named |= set(re.findall(r"^[A-Z][A-Z0-9_]{2,}$", node.value))
    for path in (ROOT / ".claude" / "scripts").glob("*.sh"):
        named |= set(re.findall(r"\$\{?([A-Z_]{3,})", path.read_text("utf-8")))
    assert named
    for name in named:
        assert f"`{name}`" in page, f"{name} is read but not documented"


def test_each_key_of_a_line_has_its_entry() -> None:
    page = (REFERENCE / "record-format.md").read_text("utf-8")
    for key in (*record.KEY_ORDER, "supersedes", "routed", "of", "by"):
        assert f"`{key}`" in page or f'"{key}"' in page
    for type_ in record.TYPES:
        assert f"`{type_}`" in page
    assert f"{record.MAX_LINE_BYTES:,}" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            path = target.split("#")[0]
            assert not path or (page.parent / path).exists(), target


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for page in ROOT.glob("docs/**/*.md"):
        assert str(page.relative_to(ROOT)) in readme


def test_each_key_and_script_of_the_mirror_has_its_entry() -> None:
    from valor import keys

    page = (REFERENCE / "redis-keys.md").read_text("utf-8")
    names = keys.Keys("<project>", "<view>")
    for name in keys.Keys.__slots__:
        assert f"    {getattr(names, name)} " in page
    scripts = [name for name, value in vars(keys).items() if isinstance(value, str) and "redis.call" in value]
    assert scripts
    for script in scripts:
        assert f"| `{script}` |" in page
    assert f"{keys.MOST_NUMBERS:,} lines" in page
    assert f"{keys.LIFE // 86_400} days" in page
