"""What pydantic complains of, in plain words that need no knowledge of Python.

Must never repeat a value that was given: it may be long, private, or a key.
Source of the types: pydantic, "Validation errors" (docs.pydantic.dev, read 2026-11-29).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from pydantic_core import ErrorDetails

_OBJECT: Final = "object"
_NOUNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bool_parsing": "true or false",
        "bool_type": "true or false",
        "dataclass_type": _OBJECT,
        "decimal_parsing": "a number",
        "decimal_type": "a number",
        "dict_type": _OBJECT,
        "float_parsing": "a number",
        "float_type": "a number",
        "int_from_float": "a whole number",
        "int_parsing": "a whole number",
        "int_parsing_size": "a whole number",
        "int_type": "a whole number",
        "list_type": "a list",
        "mapping_type": _OBJECT,
        "model_attributes_type": _OBJECT,
        "model_type": _OBJECT,
        "string_type": "a string",
        "tuple_type": "a list",
    }
)
_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "extra_forbidden": "is not known",
        "finite_number": "must be a finite number",
        "greater_than": "must be more than {gt:g}",
        "greater_than_equal": "must be {ge:g} or more",
        "less_than": "must be less than {lt:g}",
        "less_than_equal": "must be {le:g} or less",
        "literal_error": "must be {expected}",
        "missing": "is missing",
        "string_pattern_mismatch": "must match {pattern}",
        "string_too_long": "must have at most {max_length} characters",
        "string_too_short": "must have at least {min_length} characters",
        "too_long": "must have at most {max_length} members",
        "too_short": "must have at least {min_length} members",
        "union_tag_invalid": "must be one of {expected_tags}",
        "union_tag_not_found": "is missing",
    }
)


def told(complaints: Sequence[ErrorDetails], objects: str = "an object") -> str:
    """What is wrong at one place. Several complaints are those of the forms that could stand there.

    `objects` is what an object is called where the value was written.
    """
    nouns = [_NOUNS.get(complaint["type"]) for complaint in complaints]
    known = list(dict.fromkeys(objects if noun == _OBJECT else noun for noun in nouns if noun))
    if known and all(nouns):
        return f"must be {' or '.join(known)}"
    return _sentence(complaints[0])


def where(complaint: ErrorDetails) -> tuple[int | str, ...]:
    """The path to the place; of an object whose kind is not known, that of the member that names the kind."""
    named = complaint.get("ctx", {}).get("discriminator")
    return (*complaint["loc"], named.strip("'")) if isinstance(named, str) else complaint["loc"]


def _sentence(complaint: ErrorDetails) -> str:
    context: Mapping[str, Any] = complaint.get("ctx", {})
    if context.get("min_length") == 1:
        return "must not be empty"
    form = _SENTENCES.get(complaint["type"])
    if form is None:
        return complaint["msg"][:1].lower() + complaint["msg"][1:]
    tags = str(context.get("expected_tags", "")).replace("'", "")
    return form.format_map({**context, "expected_tags": tags})
