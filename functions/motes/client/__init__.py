"""The Python client: answers as particles and messages, from a gateway or straight from a vendor.

Needs no more than the package itself (httpx, pydantic, orjson). Must never import what serves: no store, no
host, no web framework.
"""
