"""An app that has nothing to do at its start and its end: it says so to the server until both are over."""


async def lifespan(receive, send):
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
