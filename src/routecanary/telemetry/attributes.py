"""Which attributes of a span are read? These names and no others.

Whatever else a span carries, prompts and completions first of all, is not even looked at.

Source: openrouter-wire.md §5.4; the GenAI conventions of OpenTelemetry, old names and new.
"""

from __future__ import annotations

from typing import Final

GENERATION_ID: Final = "gen_ai.response.id"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"

HOST_NAMES: Final = ("trace.metadata.openrouter.provider_name", "trace.metadata.openrouter.provider_slug")
"""Who served it: the gateway's own words."""

SYSTEM_NAMES: Final = ("gen_ai.provider.name", "gen_ai.system")
"""Who served it, or whose model it is: gateways differ."""

FINISH_REASONS: Final = (
    "gen_ai.response.finish_reason",
    "gen_ai.response.finish_reasons",
    "trace.metadata.openrouter.finish_reason",
)
PROMPT_TOKENS: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
COMPLETION_TOKENS: Final = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
FIRST_TOKEN_MS: Final = ("trace.metadata.openrouter.first_token_ms",)
FIRST_TOKEN_SECONDS: Final = ("gen_ai.response.time_to_first_chunk", "gen_ai.server.time_to_first_token")
STATUSES: Final = ("http.response.status_code", "error.type")

SESSIONS: Final = ("session.id", "gen_ai.conversation.id")
"""Never kept as they are."""

LOCALE: Final = "trace.metadata.locale"

WANTED: Final = frozenset(
    {
        *(GENERATION_ID, REQUEST_MODEL, RESPONSE_MODEL, LOCALE),
        *(*HOST_NAMES, *SYSTEM_NAMES, *FINISH_REASONS, *PROMPT_TOKENS, *COMPLETION_TOKENS),
        *(*FIRST_TOKEN_MS, *FIRST_TOKEN_SECONDS, *STATUSES, *SESSIONS),
    }
)
