"""What a client made of one accident, judged.

A cell is right where text, calls, role, finish and usage are what the upstream meant, or where the client raised
because the upstream's answer was cut or failed. Half an answer without an error is never right.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

MUST_RAISE: Final = frozenset(
    {"trunc", "fin_error", "err_data", "err_data_int_code", "err_str", "err_event", "http200_json_err"}
)
# The upstream tells no usage here: an estimate, and tagged as one, is all there can be.
ESTIMATED: Final = frozenset({"no_usage"})
USAGE: Final = 15
TEXT: Final = "Hello"
ONE: Final = [["call_a", "f", '{"x":1}']]
TWO: Final = [*ONE, ["call_b", "g", '{"y":2}']]
EMPTY: Final = [["call_a", "f", "{}"]]
_TWO_CALLS: Final = frozenset(
    {
        "tools",
        "no_role_tools",
        "role_empty_tools",
        "tool_no_index",
        "tool_index_all0",
        "tool_index_1based",
        "tool_full",
        "tool_fin_stop",
    }
)
_NO_CALLS: Final = frozenset({"tool_empty_list", "tool_null_fields"})
_FINISHES: Final = {True: ("tool_calls", "tool-calls"), False: ("stop",)}


def meant(variant: str) -> tuple[str, list[list[str]]]:
    """The text and the calls that the upstream of a variant means."""
    if variant in _TWO_CALLS:
        return "", TWO
    if variant == "tool_args_empty":
        return "", EMPTY
    if variant.startswith("tool_") and variant not in _NO_CALLS:
        return "", ONE
    return TEXT, []


def faults(variant: str, told: Mapping[str, Any]) -> list[str]:
    """What is wrong with what a client told; nothing where the cell is right."""
    if variant in MUST_RAISE:
        return [] if "EXC" in told else [f"no error: text={told['text']!r} finish={told.get('fin')!r}"]
    if "EXC" in told:
        return [f"raised {told['EXC']}"]
    return [*_wrong_content(variant, told), *_wrong_end(variant, told)]


def _wrong_content(variant: str, told: Mapping[str, Any]) -> list[str]:
    text, calls = meant(variant)
    wrong = []
    if told["text"] != text:
        wrong.append(f"text={told['text']!r}")
    if _calls(told) != calls:
        wrong.append(f"calls={_calls(told)}")
    if told.get("role") not in (None, "assistant"):
        wrong.append(f"role={told['role']!r}")
    return wrong


def _wrong_end(variant: str, told: Mapping[str, Any]) -> list[str]:
    wrong = []
    usage, finish = told.get("usage"), told.get("fin")
    if variant in ESTIMATED:
        if not usage:
            wrong.append(f"usage={usage}")
    elif usage != USAGE:
        wrong.append(f"usage={usage}")
    # One of the clients keeps no finish reason at all.
    if finish != "n/a" and finish not in _FINISHES[bool(meant(variant)[1])]:
        wrong.append(f"finish={finish!r}")
    return wrong


def _calls(told: Mapping[str, Any]) -> list[list[str]]:
    return [[id, name, _compact(arguments)] for id, name, arguments in told["tools"]]


def _compact(arguments: Any) -> str:
    """Clients tell arguments as text or parsed; an empty object may be no text at all."""
    if isinstance(arguments, str):
        return (arguments or "{}").replace(" ", "")
    return json.dumps(arguments, separators=(",", ":"))
