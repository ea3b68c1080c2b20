"""JSON as vendors write it: read where it can be, ValueError where not, no character lost."""

import math

import pytest

from motes import jsontext


def test_half_a_surrogate_pair_is_read() -> None:
    assert jsontext.loads('{"a":"\\ud83d"}') == {"a": "\ud83d"}


def test_raw_control_characters_and_nan_are_read() -> None:
    assert jsontext.loads('{"a":"x\x0b\ty"}') == {"a": "x\x0b\ty"}
    assert math.isnan(jsontext.loads('{"a":NaN}')["a"])


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    for text in ('\ufeff{"a":1}', b'\xef\xbb\xbf{"a":1}', '\ufeff {"a":1}\n'):
        assert jsontext.loads(text) == {"a": 1}
    assert jsontext.loads('"\ufeff"') == "\ufeff"


@pytest.mark.parametrize(
    "text", ["", "\ufeff", "\ufeff\ufeff1", "{", '{"a":', "nope", "[" * 100_000, '{"a":1}}']
)
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        jsontext.loads(text)


def test_lone_surrogates_are_mended_on_the_way_out() -> None:
    assert jsontext.dumps({"a": "x\ud83d"}) == '{"a":"x\ufffd"}'
    assert jsontext.dumps(["\ud83d\ude00"]) == '["😀"]'
    assert jsontext.dump_bytes({"é": 1}) == '{"é":1}'.encode()


def test_only_objects_are_objects() -> None:
    assert jsontext.as_object('{"a":1}') == {"a": 1}
    assert jsontext.as_object("[1]") is None
    assert jsontext.as_object("{") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "plain words",
        '"{}"',
        "null",
        "\ufeff",
        ' \n\t{"a":1}',
        '\ufeff{"a":1}',
        '\ufeff\ufeff{"a":1}',
        '{"a":NaN}',
    ],
)
def test_an_object_is_what_reads_as_one(text: str) -> None:
    try:
        value = jsontext.loads(text)
    except ValueError:
        value = None
    assert repr(jsontext.as_object(text)) == repr(value if isinstance(value, dict) else None)
