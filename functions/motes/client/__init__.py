"""The Python client: a message out of any stream, with or without a gateway.

```python
from motes.client import AsyncClient

async with AsyncClient() as client:  # MOTES_BASE_URL, MOTES_API_KEY
    async for text in client.stream("What is a mote?", model="demo/hello").text:
        print(text, end="")
```

Must never load what only a gateway, or only direct mode, needs before that is asked for.
"""

from motes.client.blocking import Client, SyncStream
from motes.client.client import AsyncClient
from motes.client.desk import Model
from motes.client.failure import GatewayError, RunFailed
from motes.client.request import Request
from motes.client.retry import Patience, Restart
from motes.client.scatter import Scatter
from motes.client.stream import Stream
from motes.fragments import (
    CitationFragment,
    CodeFragment,
    Fragment,
    MediaFragment,
    Message,
    OperationFragment,
    ReasoningFragment,
    RefusalFragment,
    ResourceFragment,
    TextFragment,
    ToolCallFragment,
)

__all__ = [
    "AsyncClient",
    "CitationFragment",
    "Client",
    "CodeFragment",
    "Fragment",
    "GatewayError",
    "MediaFragment",
    "Message",
    "Model",
    "OperationFragment",
    "Patience",
    "ReasoningFragment",
    "RefusalFragment",
    "Request",
    "ResourceFragment",
    "Restart",
    "RunFailed",
    "Scatter",
    "Stream",
    "SyncStream",
    "TextFragment",
    "ToolCallFragment",
]
