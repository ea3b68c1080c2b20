"""Items of tools the vendor runs itself: search, files, images, code, MCP, shells, and the like.

Each becomes an operation that is told when it starts, when its step changes, and when it is done. Must never
take a vendor's tool for the client's, and never show more than an excerpt of what a tool gave. Source: OpenAI
API reference, "Responses", output items and streaming events (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Final

from motes import particles as p
from motes.dialects.openai_responses import outcomes
from motes.dialects.openai_responses.answer import Answer
from motes.dialects.openai_responses.calls import Called
from motes.dialects.openai_responses.fields import Json, rows, text
from motes.dialects.openai_responses.outcomes import Outcome
from motes.dialects.openai_responses.pictures import picture
from motes.transmitter import Emitter

# Item type -> kind of operation, and what a tool that starts is doing.
TOOLS: Final[Mapping[str, tuple[p.OperationKind, str]]] = {
    "web_search_call": ("search-web", "Searching the web"),
    "x_search_call": ("search-web", "Searching X"),
    "file_search_call": ("search-web", "Searching files"),
    "search_results": ("search-web", "Searching the web"),
    "fetch_url_results": ("search-web", "Reading web pages"),
    "tool_search_call": ("search-web", "Looking for tools"),
    "image_generation_call": ("gen-image", "Making an image"),
    "code_interpreter_call": ("code-exec", "Writing code"),
    "shell_call": ("code-exec", "Running a shell command"),
    "local_shell_call": ("code-exec", "Running a shell command"),
    "apply_patch_call": ("code-exec", "Changing a file"),
    "computer_call": ("code-exec", "Using a computer"),
    "mcp_list_tools": ("code-exec", "Asking a server for its tools"),
    "mcp_call": ("code-exec", "Using a tool of a server"),
    "mcp_approval_request": ("code-exec", "A tool of a server wants approval"),
    "custom_tool_call": ("code-exec", "Using a tool"),
    "program": ("code-exec", "Running a program"),
}
# A result that is an item of its own, of the call with the same `call_id`.
RESULTS: Final[Mapping[str, str]] = {
    "shell_call_output": "shell_call",
    "local_shell_call_output": "local_shell_call",
    "apply_patch_call_output": "apply_patch_call",
    "computer_call_output": "computer_call",
    "tool_search_output": "tool_search_call",
    "program_output": "program",
}
_STEPS: Final[Mapping[str, str]] = {"interpreting": "Running code"}
# These tell their start in an event of their own.
_ANNOUNCED: Final = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "image_generation_call",
        "code_interpreter_call",
        "mcp_call",
        "mcp_list_tools",
    }
)
# What of an image tool's configuration is told.
_SETTINGS: Final = ("model", "size", "quality", "output_format", "background")
_MAX_CODE: Final = 1024
_FINISHED: Final = frozenset({"completed", "failed"})


class HostedItem(Called):
    """A tool of the vendor's at work."""

    def __init__(self, answer: Answer, kind: str) -> None:
        super().__init__(answer)
        self._tool = kind
        self._kind, self._label = TOOLS[kind]
        self._told: p.Operation | None = None
        self._finished = False

    def add(self, raw: Json, out: Emitter) -> None:
        """See `Item`."""
        if self._tool not in _ANNOUNCED:
            self._start(raw, out)

    def progress(self, step: str, event: Json, out: Emitter) -> None:
        """See `Called`."""
        if step == "in_progress":
            self._start(event, out)
        elif step in _FINISHED:
            state: p.OperationState = "error" if step == "failed" else "done"
            self._say(Outcome(self._told.text if self._told else self._label, state), out)
        elif step in _STEPS:
            self._say(Outcome(_STEPS[step], None), out)

    def finish(self, raw: Json, out: Emitter) -> None:
        """See `Item`."""
        if self._finished:
            return
        self._finished = True
        found = outcomes.of(self._tool, raw, self._label)
        over = self._told is not None and self._told.state == found.state
        if not over or found.inputs or found.outputs:
            self._say(found, out)
        if self._tool == "mcp_approval_request":
            out.warn("approval_wanted", "a tool of a server wants an approval that nobody can give from here")

    def _start(self, raw: Json, out: Emitter) -> None:
        self._say(Outcome(outcomes.begun(raw, self._label), None), out)

    def _say(self, outcome: Outcome, out: Emitter) -> None:
        told = p.Operation(
            self.id or self.call_id or self._tool,
            outcome.text,
            self._kind,
            outcome.state,
            inputs=outcome.inputs or (self._told.inputs if self._told else ()),
            outputs=outcome.outputs,
        )
        if told != self._told:
            self._told = told
            out.add(told)


class ResultItem(HostedItem):
    """What a tool gave, in an item of its own: it ends the operation of its call."""

    def __init__(self, answer: Answer, kind: str) -> None:
        super().__init__(answer, RESULTS[kind])
        self._result = kind

    def follow(self, call: HostedItem) -> None:
        """The call this is the result of."""
        self.id, self._told = call.id, call._told

    def add(self, raw: Json, out: Emitter) -> None:
        """See `Item`. Nothing is known before it is whole."""

    def finish(self, raw: Json, out: Emitter) -> None:
        """See `Item`."""
        if not self._finished:
            self._finished = True
            self._say(outcomes.of(self._result, raw, self._label), out)


class ImageItem(HostedItem):
    """An image in the making; previews come before it."""

    def __init__(self, answer: Answer, kind: str) -> None:
        super().__init__(answer, kind)
        words = [text(answer.image_tool, name) for name in _SETTINGS]
        known = ", ".join(word for word in words if word not in ("", "auto"))
        self._label += f" ({known})" if known else ""

    def progress(self, step: str, event: Json, out: Emitter) -> None:
        """See `Called`."""
        data = text(event, "partial_image_b64")
        if step == "partial_image" and data:
            out.add(picture(data, text(event, "output_format"), partial=True))
        elif step != "completed":
            super().progress(step, event, out)

    def finish(self, raw: Json, out: Emitter) -> None:
        """See `Item`."""
        if self._finished:
            return
        super().finish(raw, out)
        data = text(raw, "result")
        if data:
            prompt = text(raw, "revised_prompt", "prompt") or None
            model = text(self.answer.image_tool, "model") or None
            out.add(picture(data, text(raw, "output_format"), generator=model, prompt=prompt))
        elif text(raw, "status") == "completed":
            out.warn("no_image", "an image was announced as complete and did not come")


class CodeItem(HostedItem):
    """Code that runs in a container of the vendor's."""

    LANGUAGE: Final = "python"
    AUTHOR: Final = "code_interpreter"
    CONTAINER_MS: Final = 20 * 60 * 1000
    """A container expires when it was not used for 20 minutes (OpenAI guide "Code interpreter")."""

    def complete(self, event: Json, out: Emitter) -> None:
        """See `Called`."""
        code = text(event, "code")
        if code:
            self._say(Outcome(self._label, None, inputs=(code[:_MAX_CODE],)), out)

    def finish(self, raw: Json, out: Emitter) -> None:
        """See `Item`."""
        if self._finished:
            return
        super().finish(raw, out)
        self._keep_container(text(raw, "container_id"), out)
        id = self.id or self.call_id or self._tool
        code = text(raw, "code")
        if code:
            out.add(p.CodeCall(id, self.LANGUAGE, code, self.AUTHOR))
        failed = text(raw, "status") == "failed"
        logs = [words for row in rows(raw, "outputs") if (words := text(row, "logs"))]
        if logs or failed:
            result = "\n\n".join(logs)
            out.add(p.CodeResult(id, failed, result, self.AUTHOR, environment="upstream"))
        for row in rows(raw, "outputs"):
            url = text(row, "url")
            if url:
                out.add(picture(url, "", small=True))

    def _keep_container(self, id: str, out: Emitter) -> None:
        """A later turn may use the container again, and this is the least it will live."""
        if not id:
            return
        begun = self.answer.created_ms
        expires = None if begun is None else begun + self.CONTAINER_MS
        out.add(p.VendorState("openai-container", {"container": {"id": id, "expiresAt": expires}}))


def hosted(answer: Answer, kind: str) -> HostedItem:
    """The item of a vendor's tool, of a type that is in `TOOLS` or `RESULTS`."""
    if kind in RESULTS:
        return ResultItem(answer, kind)
    if kind == "image_generation_call":
        return ImageItem(answer, kind)
    return CodeItem(answer, kind) if kind == "code_interpreter_call" else HostedItem(answer, kind)
