"""The MCP server: four tools over one memory, each call about the checkout it names.

Only this package imports the SDK, which costs far more than any command; only ``valor mcp`` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from valor.bug import keep
from valor.errors import ValorError
from valor.mcp.answers import Found, Observation, Routed, Written
from valor.mcp.calls import Calls
from valor.mcp.words import (
    GET,
    INSTRUCTIONS,
    OBSERVE,
    ROUTE,
    SEARCH,
    Cwd,
    Details,
    Id,
    Importance,
    Level,
    Limit,
    Owner,
    Redact,
    References,
    Session,
    Since,
    Summary,
    Supersedes,
    Tags,
    Text,
    Type,
    Until,
    Words,
    spoken,
)
from valor.suggest import did_you_mean
from valor.version import __version__

# Tools are deferred, so that an agent has to look for them first, unless they say this.
_META = {"anthropic/alwaysLoad": True}
_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


class _Server(MCPServer[Any]):
    """The SDK's server, whose errors are in the words of the commands' errors."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """As the SDK's. Raises ToolError with a message and a hint, also for arguments that are off."""
        known = {tool.name: tool.parameters.get("properties", {}) for tool in self._tool_manager.list_tools()}
        for argument in arguments if name in known else ():
            if argument not in known[name]:
                listed = f"{name} takes {', '.join(known[name])}"
                question = did_you_mean(argument, known[name])
                raise ToolError(f"unknown argument {argument!r}\n{question or listed}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_misfits(error.__cause__)) from None
            if type(error.__cause__) is ToolError:  # the SDK's wrapper of our own
                raise error.__cause__ from None
            raise


def _misfits(error: ValidationError) -> str:
    """What is wrong with the arguments; never their values."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "\n".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)


def server(env: Mapping[str, str], start: Path) -> MCPServer[Any]:
    """The server of a process with this environment, started in this folder."""
    calls = Calls(env, start)
    made = _Server(
        "valor",
        title="valor: project memory",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="ERROR",
    )

    @made.tool(description=SEARCH, annotations=_READS, meta=_META)
    def memory_search(
        query: Words = "",
        type: Type = "",
        tags: Tags = (),
        since: Since = "",
        until: Until = "",
        session: Session = "",
        limit: Limit = 10,
        level: Level = "index",
        cwd: Cwd = "",
    ) -> Found:
        with _boundary(env):
            return calls.search(
                cwd,
                query,
                level=level,
                limit=limit,
                type_=type,
                tags=tags,
                since=since,
                until=until,
                session=session,
            )

    @made.tool(description=GET, annotations=_READS, meta=_META)
    def memory_get(id: Id, cwd: Cwd = "") -> Observation:
        with _boundary(env):
            return calls.get(cwd, id)

    @made.tool(description=OBSERVE, annotations=_WRITES, meta=_META)
    def memory_observe(
        summary: Summary,
        type: Type = "discovery",
        details: Details = "",
        tags: Tags = (),
        references: References = (),
        supersedes: Supersedes = (),
        importance: Importance = None,
        owner: Owner = "",
        redact: Redact = False,
        cwd: Cwd = "",
    ) -> Written:
        entry = {
            "summary": summary,
            "type": type,
            "details": details,
            "tags": list(tags),
            "references": list(references),
            "supersedes": list(supersedes),
            "importance": importance,
            "owner": owner or None,
        }
        with _boundary(env):
            return calls.observe(cwd, entry, redact=redact)

    @made.tool(description=ROUTE, annotations=_READS, meta=_META)
    def memory_route(text: Text, cwd: Cwd = "") -> Routed:
        with _boundary(env):
            return calls.route(cwd, text)

    return made


@contextmanager
def _boundary(env: Mapping[str, str]) -> Iterator[None]:
    """Every failure as a tool error: what happened, and what to do."""
    try:
        yield
    except ValorError as error:
        raise ToolError("\n".join(filter(None, (error.message, spoken(error.hint))))) from None
    except Exception as error:  # noqa: BLE001 (boundary): what is left is a bug, kept for its report
        where = keep(error, env)
        said = f"please report what {where} says" if where else "please report it"
        raise ToolError(f"a bug in valor: {type(error).__name__}\n{said}") from None
