"""The HTTP/1.1 client engine behind httpx: a protocol of asyncio's, a parser in C (httptools), a pool.

httpx stays the interface; `transport` is what it is given. Read it from the inside out: `connection` is one
socket, `body` the answer that is being read from it, `opening` makes a socket, `pool` keeps those that can
serve again. Knows nothing of vendors, particles or runs.
"""
