"""The HTTP surface: a Starlette app over one `Gateway`; no globals, and only pure ASGI middleware.

Starlette's BaseHTTPMiddleware costs every chunk of every stream a pass through its queue.
"""
