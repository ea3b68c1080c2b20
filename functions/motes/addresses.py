"""Whether an IP address is on the open internet, whatever form it comes in.

Must never call an address public that leads into a private network, to this machine or to a cloud's
metadata. Source: IANA special-purpose address registries (RFC 6890), RFC 3056 (6to4), RFC 4380 (Teredo),
RFC 6052 (NAT64); Python's ipaddress has most of it.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

# What stands in their last 32 bits is the address that is reached.
_TRANSLATED: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))


def is_public_address(text: str) -> bool:
    """Whether it is an address, and one that anybody could reach; a zone (`%eth0`) makes it none."""
    try:
        return _is_public(ip_address(text))
    except ValueError:
        return False


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        if address.scope_id is not None or address.teredo is not None:
            return False
        inner = address.ipv4_mapped or address.sixtofour or _translated(address)
        if inner is not None:
            return _is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved


def _translated(address: IPv6Address) -> IPv4Address | None:
    if any(address in network for network in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
