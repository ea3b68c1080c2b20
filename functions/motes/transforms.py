"""Which transforms a run gets, by its request, its vendor and its dialect.

Pure; chosen once, before anything is sent. Must never make a question that goes elsewhere than to the host
of the vendor's row.
"""

from collections.abc import Callable
from dataclasses import replace

from motes import particles as p
from motes.chat import ChatRequest, UserMessage, text_of
from motes.dialects.registry import resolve
from motes.dispatch import Dispatch, Errand, FileErrands, Plan, Search, Transforms, errand
from motes.jsontext import dump_bytes
from motes.quirks import SearchIntercept
from motes.reattachment import stored_runs
from motes.vendors.resources import name_of, paths_of, place_of
from motes.vendors.vendor import Vendor


def with_transforms(dispatch: Dispatch, request: ChatRequest, plan: Plan) -> Dispatch:
    """The dispatch with its transforms; `plan` is what it was made by."""
    vendor, secret = plan.vendor, plan.secret
    options, intercept = request.motes, plan.quirks.search_intercept
    file = _files(vendor, secret) if options.inline_files and vendor.resources else None
    snapshot = _snapshots(vendor, secret) if plan.dialect.stored_runs else None
    search = _search(request, vendor, secret, intercept) if intercept else None
    if file is None and snapshot is None and search is None and not options.resolve_links:
        return dispatch
    chosen = Transforms(file=file, snapshot=snapshot, resolve_links=options.resolve_links, search=search)
    return replace(dispatch, transforms=chosen)


def file_errands(vendor: Vendor, secret: str | None, kind: str, name: str) -> FileErrands | None:
    """How a file of the vendor is had, or None where it has no such kind or that is no name of it."""
    place = place_of(kind)
    paths = paths_of(place, name) if place else None
    if place is None or paths is None or kind not in vendor.resources:
        return None
    content, about = (errand(vendor, secret, path, headers=place.headers) for path in paths)
    return FileErrands(content=content, about=about)


def _search(
    request: ChatRequest, vendor: Vendor, secret: str | None, intercept: SearchIntercept
) -> Search | None:
    """The search that answers the request, where it asks for that and nothing else."""
    tools, last = request.tools or [], request.messages[-1]
    named = [tool.function.name if tool.function else "" for tool in tools]
    if named != [intercept.tool] or request.functions or not isinstance(last, UserMessage):
        return None
    said = text_of(last.content, "\n").strip()
    query = said.removeprefix(intercept.opening).strip()
    if not query or not said.startswith(intercept.opening):
        return None
    asked = errand(vendor, secret, intercept.path, in_place_of=intercept.in_place_of, method="POST")
    body = dump_bytes({"query": query})
    return Search(errand=replace(asked, request=replace(asked.request, body=body)), query=query)


def _files(vendor: Vendor, secret: str | None) -> Callable[[p.HostedResource], FileErrands | None]:
    def file(resource: p.HostedResource) -> FileErrands | None:
        return file_errands(vendor, secret, resource.kind, name_of(resource))

    return file


def _snapshots(vendor: Vendor, secret: str | None) -> Callable[[str], Errand] | None:
    runs = stored_runs(vendor)
    if runs is None or not runs.tells_usage_late:
        return None
    headers = resolve(vendor.surfaces[0].dialect).headers

    def snapshot(run_id: str) -> Errand:
        return errand(vendor, secret, runs.snapshot(run_id), headers=headers)

    return snapshot
