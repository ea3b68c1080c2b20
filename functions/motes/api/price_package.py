"""Opens what of genai-prices a gateway needs: its types, and of its data the providers that are asked for.

Loaded as others load it, it makes schemas to renew itself with, which takes the Python half of pydantic and a
second HTTP client: five megabytes, and most of the time of a look-up. And its data is one expression of forty
providers, of which all models would be in memory at once. Must never stand in the way of who wants the
package whole, nor change what any other module imports.

Source: Python, "The import system" and "Execution model", builtins (a module's imports go through the
`__import__` of its own builtins).
"""

import builtins
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from genai_prices.types import ModelInfo, Provider

_PACKAGE: Final = "genai_prices"
_TYPES: Final = "genai_prices.types"
DATA: Final = "genai_prices.data"
# Of pydantic, what its types declare schemas with. Who wants more has the whole of it.
_MARKS: Final = ("ConfigDict", "Discriminator", "Field", "Tag", "TypeAdapter")


def open_package() -> None:
    """Have the package there, so that its modules can be imported. Call it in one thread at a time. Raises
    ImportError where it is not installed.
    """
    if _PACKAGE in sys.modules:
        return
    if (spec := importlib.util.find_spec(_PACKAGE)) is None:
        raise ImportError(_PACKAGE)
    package = sys.modules[_PACKAGE] = importlib.util.module_from_spec(spec)
    package.__getattr__ = _Rest(package, spec)  # type: ignore[method-assign]
    if "pydantic" not in sys.modules:
        with suppress(AttributeError, ImportError, TypeError):
            # Another version of it may want more; then it is loaded as others load it.
            _open_types(package)


def read(data: CodeType, wanted: Sequence[range] = ()) -> "tuple[list[Provider], dict[str, range]]":
    """The providers that the code of the data makes, with those of their models whose numbers are wanted; and
    which numbers the models of a provider have, by its id. The others are made and gone one by one.
    """
    from genai_prices import types

    numbers = dict[str, range]()
    begun = made = 0

    def model(**members: Any) -> "ModelInfo | None":
        nonlocal made
        made += 1
        return types.ModelInfo(**members) if any(made - 1 in some for some in wanted) else None

    def provider(**members: Any) -> "Provider":
        nonlocal begun
        numbers[members["id"]], begun = range(begun, made), made
        members["models"] = [one for one in members.get("models", ()) if one is not None]
        return types.Provider(**members)

    names = ModuleType(_TYPES)
    vars(names).update(vars(types), Provider=provider, ModelInfo=model)
    space: dict[str, Any] = {"__name__": DATA, "__package__": _PACKAGE}
    space["__builtins__"] = _importing({"types": names, _TYPES: names})
    exec(data, space)  # noqa: S102 (what an import does)
    providers: list[Provider] = space["providers"]
    return providers, numbers


class _Rest:
    """What the package has besides its modules: loaded for who asks for it."""

    def __init__(self, package: ModuleType, spec: "ModuleSpec") -> None:
        self._package = package
        self._spec = spec

    def __call__(self, name: str) -> Any:
        package = self._package
        is_inner = name.startswith("__") and name not in ("__all__", "__version__")
        if is_inner or importlib.util.find_spec(f"{_PACKAGE}.{name}") is not None:
            # A module of it that is not loaded yet: the import system goes on from here.
            raise AttributeError(name)
        vars(package).pop("__getattr__", None)
        assert self._spec.loader is not None  # noqa: S101 (for the type: a package in files has one)
        self._spec.loader.exec_module(package)
        return getattr(package, name)


class _Unused:
    """A mark of a schema, or the schema."""

    def __init__(self, *_: object, **__: object) -> None:
        pass


def _open_types(package: ModuleType) -> None:
    spec = importlib.util.find_spec(_TYPES)
    if spec is None or spec.loader is None:
        return
    schemas = ModuleType("pydantic")
    vars(schemas).update(dict.fromkeys(_MARKS, _Unused))
    types = importlib.util.module_from_spec(spec)
    vars(types)["__builtins__"] = _importing({"pydantic": schemas})
    sys.modules[_TYPES] = types
    with ExitStack() as undo:
        undo.callback(sys.modules.pop, _TYPES)
        spec.loader.exec_module(types)
        undo.pop_all()
    vars(package)["types"] = types


def _importing(instead: Mapping[str, ModuleType]) -> dict[str, Any]:
    """The builtins of a module to which these names stand for other modules."""

    def imported(name: str, *place: Any, **places: Any) -> ModuleType:
        return instead[name] if name in instead else builtins.__import__(name, *place, **places)

    return {**vars(builtins), "__import__": imported}
