"""The one switch: a dialect's name to its house, imported only when it is used."""

from typing import assert_never

from motes.dialects.base import Dialect, DialectName


def resolve(name: DialectName) -> Dialect:
    """The house of a dialect."""
    match name:
        case "openai-chat":
            from motes.dialects import openai_chat

            return openai_chat.DIALECT
        case "openai-responses":
            from motes.dialects import openai_responses

            return openai_responses.DIALECT
        case "anthropic-messages":
            from motes.dialects import anthropic_messages

            return anthropic_messages.DIALECT
        case "gemini-generate":
            from motes.dialects import gemini_generate

            return gemini_generate.DIALECT
        case "bedrock-converse":
            from motes.dialects import bedrock_converse

            return bedrock_converse.DIALECT
        case "bedrock-invoke":
            from motes.dialects import bedrock_invoke

            return bedrock_invoke.carrying(resolve)
        case "ollama-chat":
            from motes.dialects import ollama_chat

            return ollama_chat.DIALECT
        case "cohere-chat":
            from motes.dialects import cohere_chat

            return cohere_chat.DIALECT
        case "gemini-interactions":
            from motes.dialects import gemini_interactions

            return gemini_interactions.DIALECT
        case _:
            assert_never(name)
