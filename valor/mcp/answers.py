"""What the tools answer, as the structured output that clients are told of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer


class Answer(BaseModel):
    """An answer without what is empty: an agent pays for every word."""

    @model_serializer(mode="wrap")
    def _without_blanks(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            key: value
            for key, value in handler(self).items()
            if fields[key].is_required() or value not in ("", None, [])
        }


class Hit(Answer):
    """One observation in short."""

    id: str
    type: str
    timestamp: str = ""
    summary: str = ""
    details: str = ""
    tags: list[str] = []
    references: list[str] = []


class Found(Answer):
    """The answer of memory_search."""

    hits: list[Hit] = Field(description="Best match first; without a query, newest first.")
    suggestions: list[str] = Field([], description="Words that the log has, where nothing matched.")
    skipped_lines: list[str] = Field([], description="Lines of the log that cannot be read, and why.")


class Observation(Answer):
    """The answer of memory_get."""

    id: str
    type: str
    timestamp: str = ""
    summary: str = ""
    details: str = ""
    tags: list[str] = []
    references: list[str] = []
    importance: float
    source: str
    session_id: str = ""
    replaces: str = Field("", description="The superseded id that was asked for; this is its successor.")


class Written(Answer):
    """The answer of memory_observe."""

    status: str = Field(description="written, exists (the same text is there: its id) or off.")
    id: str = ""
    routed: str = Field("", description="ambiguous or override, where the routing table did not say yes.")
    notes: list[str] = []


class Row(Answer):
    """A row of the routing table that comes into question."""

    owner: str
    store: str = ""
    row: str
    share: float = Field(description="0 to 1.")


class Routed(Answer):
    """The answer of memory_route."""

    owner: str = Field(description="observations, auto-memory, instructions, nowhere or ambiguous.")
    store: str = Field("", description="Where to write it.")
    row: str = Field("", description="The row of the routing table that decided.")
    example: str = Field("", description="The example of that row that is nearest.")
    confidence: float = Field(description="0 to 1.")
    reasons: list[str] = []
    candidates: list[Row] = []
