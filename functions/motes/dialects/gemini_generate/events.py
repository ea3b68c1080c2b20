"""What Google sends: one GenerateContentResponse a datum, as its pages describe it.

Every member may be missing, and any may be of a type it should not be: these shapes are for the reader, the
parser takes nothing for granted. Must never hold behaviour.

Sources, read 2026-11-29: ai.google.dev/api/generate-content (GenerateContentResponse, Candidate, Content,
Part, GroundingMetadata, UsageMetadata), ai.google.dev/gemini-api/docs/thought-signatures, the Vertex AI
reference of FunctionCall and PartialArg, and google.rpc.Status for errors.
"""

from typing import Any, TypedDict


class Blob(TypedDict, total=False):
    """Inline bytes, base64."""

    mimeType: str
    data: str


class FileData(TypedDict, total=False):
    """A file by address: Files API, Cloud Storage, the web."""

    mimeType: str
    fileUri: str


class PartialArg(TypedDict, total=False):
    """One piece of one argument (Vertex). `jsonPath` is RFC 9535, such as `$.stops[0].name`."""

    jsonPath: str
    stringValue: str
    numberValue: float
    boolValue: bool
    nullValue: str
    willContinue: bool


class FunctionCall(TypedDict, total=False):
    """A call for the client. Streamed on Vertex: pieces in `partialArgs` while `willContinue`."""

    id: str
    name: str
    args: dict[str, Any]
    partialArgs: list[PartialArg]
    willContinue: bool


class ExecutableCode(TypedDict, total=False):
    """Code Google is going to run."""

    id: str
    language: str
    code: str


class CodeExecutionResult(TypedDict, total=False):
    """What it gave. `outcome`: OUTCOME_OK, OUTCOME_FAILED, OUTCOME_DEADLINE_EXCEEDED."""

    id: str
    outcome: str
    output: str


class HostedCall(TypedDict, total=False):
    """A tool that Google runs itself (Gemini 3 and later): `toolCall`, and its `toolResponse`."""

    id: str
    toolType: str
    args: dict[str, Any]
    response: dict[str, Any]


class Part(TypedDict, total=False):
    """One increment of the answer: one of the kinds, and perhaps a signature of the thought behind it."""

    text: str
    thought: bool
    thoughtSignature: str
    inlineData: Blob
    fileData: FileData
    functionCall: FunctionCall
    executableCode: ExecutableCode
    codeExecutionResult: CodeExecutionResult
    toolCall: HostedCall
    toolResponse: HostedCall


class Content(TypedDict, total=False):
    """One turn."""

    role: str
    parts: list[Part]


class Segment(TypedDict, total=False):
    """A place in the answer. The offsets count bytes of UTF-8, the end is exclusive."""

    partIndex: int
    startIndex: int
    endIndex: int
    text: str


class GroundingSupport(TypedDict, total=False):
    """Which sources a segment rests on: indices into the chunks of all responses so far."""

    segment: Segment
    groundingChunkIndices: list[int]


class GroundingMetadata(TypedDict, total=False):
    """The sources. A chunk has one member: web, maps, retrievedContext, image or a newer kind."""

    groundingChunks: list[dict[str, dict[str, Any]]]
    groundingSupports: list[GroundingSupport]
    webSearchQueries: list[str]


class CitationSource(TypedDict, total=False):
    """A source the answer recites: `citations` on Vertex, `citationSources` on the Gemini API."""

    startIndex: int
    endIndex: int
    uri: str
    title: str
    license: str
    publicationDate: dict[str, int]


class UrlMetadata(TypedDict, total=False):
    """An address the URL context tool fetched, and whether it could."""

    retrievedUrl: str
    urlRetrievalStatus: str


class SafetyRating(TypedDict, total=False):
    """How harmful a text may be."""

    category: str
    probability: str
    blocked: bool


class Candidate(TypedDict, total=False):
    """One answer; ours is index 0, which Google often leaves out."""

    index: int
    content: Content
    finishReason: str
    finishMessage: str
    safetyRatings: list[SafetyRating]
    groundingMetadata: GroundingMetadata
    citationMetadata: dict[str, list[CitationSource]]
    urlContextMetadata: dict[str, list[UrlMetadata]]


class PromptFeedback(TypedDict, total=False):
    """Why the prompt was refused."""

    blockReason: str
    blockReasonMessage: str
    safetyRatings: list[SafetyRating]


class UsageMetadata(TypedDict, total=False):
    """Token counts so far. The prompt includes what was cached, the candidates exclude thoughts."""

    promptTokenCount: int
    cachedContentTokenCount: int
    candidatesTokenCount: int
    thoughtsTokenCount: int
    toolUsePromptTokenCount: int
    totalTokenCount: int


class GenerateContentResponse(TypedDict, total=False):
    """One datum. `error` is google.rpc.Status, `response` the envelope of the Code Assist endpoint."""

    candidates: list[Candidate]
    promptFeedback: PromptFeedback
    usageMetadata: UsageMetadata
    modelVersion: str
    responseId: str
    error: dict[str, Any]
    response: dict[str, Any]
