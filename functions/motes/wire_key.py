"""How a particle's field is called on the wire, where that is not its Python name.

Must never do more than that: what is written and read is the codec's.
"""

from dataclasses import MISSING, field
from typing import Any


def wire_key(name: str, default: Any = MISSING) -> Any:
    """A dataclass field with that short key."""
    if default is MISSING:
        return field(metadata={"key": name})
    return field(default=default, metadata={"key": name})
