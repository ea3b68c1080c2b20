"""The demo vendor's rows: one for each dialect it speaks.

Data only. The port is not known before the server listens, so the rows' base URLs are laid over by it.
"""

from collections.abc import Mapping
from typing import Final

from motes.demo.scripts import SCRIPTS
from motes.vendors.vendor import CHAT, GENERATE, MESSAGES, NO_AUTH, Surface, Vendor

BASES: Final[Mapping[str, str]] = {"demo": "/v1", "demo-anthropic": "/v1", "demo-gemini": "/v1beta"}
"""The path of every row's base URL."""

_SURFACES: Final[Mapping[str, Surface]] = {
    "demo": CHAT,
    "demo-anthropic": MESSAGES,
    "demo-gemini": GENERATE,
}


def demo_rows(base_urls: Mapping[str, str]) -> dict[str, Vendor]:
    """The rows at the base URLs of a running demo vendor."""
    return {
        id: Vendor(
            id=id,
            base_url=base_urls[id],
            surfaces=(surface,),
            auth=NO_AUTH,
            key_required=False,
            model_list=None,
            models=tuple(SCRIPTS),
        )
        for id, surface in _SURFACES.items()
    }
