"""A chat request as the body of a Converse request.

What the API has no word for is left out, with a note each; what it would refuse is mended where that is
what the caller can only have meant. Must never send a member the API does not know. Source: Amazon Bedrock
API reference, "ConverseStream" (docs.aws.amazon.com/bedrock/latest/APIReference, read 2026-11-29).
"""

from typing import Any, Final
from urllib.parse import quote

from motes import jsontext
from motes.chat import ChatRequest
from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.bedrock_converse.families import family_of
from motes.dialects.bedrock_converse.limits import limit_cache_points, metadata_of, stops_of, tier_of
from motes.dialects.bedrock_converse.parts import text_block
from motes.dialects.bedrock_converse.thinking import fields_of, fields_of_claude, fit
from motes.dialects.bedrock_converse.tool_choice import Asked, choice_of, tool_config
from motes.dialects.bedrock_converse.tools import tools_of
from motes.dialects.bedrock_converse.turns import Turns
from motes.dialects.claude_generations import Generation, generation_of
from motes.dialects.claude_reasoning import Plan, Situation, plan
from motes.dialects.claude_schema import closed, rooted
from motes.quirks import Quirks

# Members of the API that OpenAI has no word for; a caller may use them as they are.
_NATIVE: Final = (
    "additionalModelResponseFieldPaths",
    "guardrailConfig",
    "performanceConfig",
    "projectIdentifier",
    "promptVariables",
)
_NO_WORD_FOR: Final = (
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "verbosity",
    "audio",
    "prediction",
    "store",
    "prompt_cache_key",
    "safety_identifier",
)
_ANY_JSON: Final = "Answer with one valid JSON value and nothing else."
_JSON_BY_SCHEMA: Final = "Answer with one JSON value and nothing else. It must follow this JSON Schema: "

Notes = list[str]


def path(model: str) -> str:
    """The streaming route of a model, whose name may be an ARN."""
    return f"model/{quote(model, safe='')}/converse-stream"


def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
    """The request in the API's own words. Raises InvalidRequest for what cannot be said in them."""
    notes: Notes = []
    draft = _Draft(request, model, quirks, traits, notes)
    json = draft.json()
    for name in quirks.drop & json.keys():
        del json[name]
        notes.append(f"{name} was left out: this vendor takes none")
    _note_the_rest(request, notes)
    return UpstreamBody(json={**quirks.extra_body, **json}, warnings=tuple(dict.fromkeys(notes)))


class _Draft:
    """One request on its way: what its parts need to know of each other."""

    def __init__(
        self, request: ChatRequest, model: str, quirks: Quirks, traits: Traits, notes: Notes
    ) -> None:
        self._request = request
        self._traits = traits
        self._notes = notes
        self._family = family_of(model)
        self._generation = generation_of(model)
        reasons = traits.reasoning is not False and self._generation.thinking != "none"
        self._turns = Turns(notes, self._family, reasons=reasons)
        self._turns.add_all(request.messages)
        self._choice = choice_of(request, notes)
        self._plan = self._planned(quirks) if self._family.control == "claude" else None
        if self._plan is not None and (self._plan.on or not self._generation.prefill):
            self._turns.end_with_user()

    def json(self) -> dict[str, Any]:
        """The body."""
        fields = self._reasoning() | self._top_k()
        inference = self._inference()
        fit(inference, fields, self._notes)
        tools = self._tools(fields)
        output = self._output()
        extra = self._request.model_extra or {}
        given = extra.get("additionalModelRequestFields")
        fields |= given if isinstance(given, dict) else {}
        json: dict[str, Any] = {"messages": self._turns.messages}
        json |= {"system": self._turns.system} if self._turns.system else {}
        json |= {"inferenceConfig": inference} if inference else {}
        json |= {"toolConfig": tools} if tools else {}
        json |= {"additionalModelRequestFields": fields} if fields else {}
        json |= {"outputConfig": output} if output else {}
        json |= metadata_of(self._request, self._notes) | tier_of(self._request, self._notes)
        json |= {name: extra[name] for name in _NATIVE if name in extra}
        limit_cache_points(json, self._family, self._notes)
        return json

    def _planned(self, quirks: Quirks) -> Plan:
        at = Situation(
            generation=self._generation
            if self._traits.reasoning is not False
            else Generation(thinking="none"),
            limit=self._request.output_limit,
            default_limit=quirks.default_max_tokens,
            forced=self._choice is not None and self._choice["type"] in ("any", "tool"),
            replays=self._turns.replays,
            bare_loop=self._turns.bare_loop,
        )
        return plan(self._request, at, self._notes)

    def _reasoning(self) -> dict[str, Any]:
        if self._plan is not None:
            return fields_of_claude(self._plan)
        if self._traits.reasoning is False:
            return {}
        return fields_of(self._request, self._family, self._notes)

    @property
    def _takes_samplers(self) -> bool:
        if self._plan is None:
            return self._family.sampling
        return self._generation.sampling and not self._plan.on

    def _top_k(self) -> dict[str, Any]:
        top_k = self._request.top_k
        if top_k is None:
            return {}
        if self._family.top_k is None or not self._takes_samplers:
            self._notes.append("top_k was left out: this model takes none here")
            return {}
        return {"top_k": top_k} if self._family.top_k == "flat" else {"inferenceConfig": {"topK": top_k}}

    def _inference(self) -> dict[str, Any]:
        request, notes = self._request, self._notes
        limit = self._plan.max_tokens if self._plan is not None else request.output_limit
        out: dict[str, Any] = {} if limit is None else {"maxTokens": limit}
        samplers = {"temperature": request.temperature, "topP": request.top_p}
        given = {name: value for name, value in samplers.items() if value is not None}
        if given and not self._takes_samplers:
            notes.append(f"sampling parameters were left out: this model takes none now: {', '.join(given)}")
            given = {}
        if self._plan is not None and len(given) > 1:
            notes.append("temperature was left out: it may not be given together with top_p")
            del given["temperature"]
        if given.get("temperature", 0) > 1:
            notes.append("temperature was lowered to 1, the highest there is")
            given["temperature"] = 1.0
        stops = stops_of(request, notes)
        return out | given | ({"stopSequences": stops} if stops else {})

    def _tools(self, fields: dict[str, Any]) -> dict[str, Any]:
        reasons = self._plan is not None and (self._plan.on or not self._generation.forced_tools)
        tools = tools_of(self._request, self._family, self._turns.called, self._notes)
        asked = Asked(
            tools=tools,
            choice=self._choice,
            one_by_one=self._request.parallel_tool_calls is False,
            called=bool(self._turns.called),
            reasons=reasons,
        )
        config, more = tool_config(asked, self._family, self._notes)
        fields |= more
        return config

    def _output(self) -> dict[str, Any]:
        """`outputConfig`: the schema of the answer. Where the model cannot be held to it, words must do."""
        wanted = self._request.response_format
        if wanted is None or wanted.type == "text":
            return {}
        told = wanted.json_schema
        schema = rooted(told.schema_) if told and told.schema_ else None
        # Also where it is not used: one that is nested beyond reason is refused here.
        dropped: Notes = []
        strict = closed(schema, dropped) if schema else None
        if told and strict and self._family.schemas and self._generation.schemas:
            self._notes += dropped
            held = {"schema": jsontext.dumps(strict), "name": told.name}
            held |= {"description": told.description} if told.description else {}
            return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": held}}}
        self._notes.append("response_format became an instruction: this model cannot be held to JSON here")
        words = text_block(_JSON_BY_SCHEMA + jsontext.dumps(schema) if schema else _ANY_JSON)
        if self._family.system:
            self._turns.system += words
        else:
            self._turns.messages[0]["content"] += words
        return {}


def _note_the_rest(request: ChatRequest, notes: Notes) -> None:
    """A note for each parameter that was set and has no counterpart."""
    unsaid = [name for name in _NO_WORD_FOR if getattr(request, name)]
    if request.seed is not None:
        unsaid.append("seed")
    if request.modalities and set(request.modalities) - {"text"}:
        unsaid.append("modalities")
    if unsaid:
        notes.append(f"parameters this vendor has no word for were left out: {', '.join(unsaid)}")
