"""The project's macros as Python functions, without dbt and without a database.

All ``*.sql`` below some folders goes into one Jinja environment. A macro is known by its bare name
and as ``spark_cdc.<name>``, as dbt does it; ``return()`` hands back any object, errors that the
macros raise become :class:`CompilerError`. What needs a database (``run_query``, ``graph``,
``model``, …) is handed in as context:

    macros = load_macros(var={"business_date": "2019-06-19"}, model={...})
    macros.hash([{"name": "qty", "data_type": "int", "sql": "qty"}])

`spark-cdc new` asks them what a run would accept; tests feed them and get SQL back.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import itertools
import json
import re
from collections import ChainMap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any, NoReturn

import jinja2
import jinja2.sandbox

from spark_cdc import project
from spark_cdc.errors import SparkCdcError

Macro = Callable[..., Any]  # takes and returns whatever Jinja has
ROOT = project.package()
MACROS = ROOT / "macros"
PACKAGE = "spark_cdc"
PREFIX = "dbt_macro__"

MODULES = {"re": re, "datetime": datetime, "itertools": itertools}

_DEFINITION = re.compile(r"(\{%-?\s*macro\s+)(\w+)(\s*\()")
_OTHER_BLOCKS = re.compile(
    r"\{%-?\s*(materialization|test|snapshot|docs)\b.*?\{%-?\s*end\1\s*-?%\}", re.DOTALL
)

_ENVIRONMENT = jinja2.sandbox.SandboxedEnvironment(
    extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"], undefined=jinja2.StrictUndefined
)


class CompilerError(Exception):
    """What ``exceptions.raise_compiler_error`` raises."""


class _Return(Exception):  # as dbt does: a macro ends here
    def __init__(self, value: object) -> None:
        self.value = value


class Macros:
    """The macros as Python functions: attributes by name, or items for computed names."""

    def __init__(self, functions: dict[str, Macro]) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Macro:
        try:
            return self._functions[name]
        except KeyError:
            raise AttributeError(f"no macro {name!r}") from None

    def __getitem__(self, name: str) -> Macro:
        return self._functions[name]

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def get(self, name: str, default: Macro | None = None) -> Macro | None:
        return self._functions.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)


def folder() -> Path:
    """Return where the macros lie that the project uses.

    That is in the project itself, in spark_cdc as its dbt package, or in that of this code.

    Raises:
        SparkCdcError: they are nowhere.
    """
    places = [ROOT]
    with contextlib.suppress(SparkCdcError):
        root = project.root()
        places = [root, project.packages_folder(root) / PACKAGE, ROOT]
    for place in places:
        if (place / "macros" / "context").is_dir():
            return place / "macros"
    raise SparkCdcError(
        "The dbt package spark_cdc is not installed in this project. Add it to packages.yml.",
        "spark-cdc deps",
    )


def load_macros(
    folders: Path | list[Path] = MACROS, *, var: dict[str, Any] | None = None, **context: Any
) -> Macros:
    """Load all macros of some folders.

    Args:
        folders: where the ``.sql`` files are, at any depth; or such files.
        var: the project's vars.
        context: further names that the macros see, such as ``model``, ``graph`` or ``run_query``;
            also replaces a macro of that name, as a unit test's override does.

    Returns:
        The macros, each callable from Python with Python values.

    Raises:
        CompilerError: on the call of a macro that raises a compiler error.
        ValueError: two files define the same macro.
    """
    functions: dict[str, Macro] = {}
    macros = Macros(functions)
    nothing = {"graph": _Forgetful(nodes={}, sources={})}
    names = {**_ENVIRONMENT.globals, **_dbt_context(functions, var or {}), **nothing, **context}

    def statement(*_: object, caller: Callable[[], str], **__: object) -> str:
        names["run_query"](caller())
        return ""

    names.setdefault("statement", statement)
    places = folders if isinstance(folders, list) else [folders]
    files = [[place] if place.is_file() else place.rglob("*.sql") for place in places]
    for path in sorted(itertools.chain(*files)):
        code, defined = _compiled(path, path.read_text(encoding="utf-8"))
        module = jinja2.Template.from_code(_ENVIRONMENT, code, names).make_module()
        for name in defined:
            if name in functions:
                raise ValueError(f"macro {name} is defined twice, the second time in {path}")
            functions[name] = _callable(getattr(module, PREFIX + name))
    functions.update({name: value for name, value in context.items() if name in functions})
    return macros


class Node(dict[str, Any]):
    """A node of dbt's graph, whose entries Jinja reads as attributes too."""

    depends_on = SimpleNamespace(nodes=[])

    def __getattr__(self, name: str) -> Any:
        return self[name]


class _Forgetful(Node):
    """A graph in which macros keep nothing: each call is a run of its own, of whatever entity."""

    def setdefault(self, key: str, default: Any = None) -> Any:
        return default


def load_macros_of(
    entity: str,
    settings: dict[str, Any],
    columns: list[dict[str, Any]],
    **context: Any,
) -> tuple[Macros, Node]:
    """The macros in a project with one entity, and the node that describes it; context as above."""
    unique_id = f"model.{PACKAGE}.stg_{entity}"
    node = Node(
        name=f"stg_{entity}",
        meta={PACKAGE: settings},
        columns=columns,
        unique_id=unique_id,
        resource_type="model",
        package_name=PACKAGE,
    )
    macros = load_macros(
        graph=_Forgetful(nodes={unique_id: node}, sources={}),
        model={"unique_id": unique_id, "package_name": PACKAGE},
        **context,
    )
    return macros, node


@functools.cache
def _compiled(path: Path, text: str) -> tuple[CodeType, tuple[str, ...]]:
    """The code of a file, and the macros that it defines."""
    source = _OTHER_BLOCKS.sub(_blank, text)
    code = _ENVIRONMENT.compile(
        _DEFINITION.sub(rf"\1{PREFIX}\2\3", source), name=path.stem, filename=str(path)
    )
    return code, tuple(name for _, name, _ in _DEFINITION.findall(source))


def _blank(match: re.Match[str]) -> str:
    """Return as many empty lines, so that line numbers in errors stay right."""
    return "\n" * match.group().count("\n")


def _callable(macro: jinja2.runtime.Macro) -> Macro:
    def call(*args: object, **kwargs: object) -> object:
        try:
            return macro(*args, **kwargs)
        except _Return as returned:
            return returned.value

    call.__name__ = macro.name.removeprefix(PREFIX)
    return call


def _dbt_context(macros: dict[str, Macro], variables: dict[str, Any]) -> dict[str, Any]:
    def give_back(value: object = None) -> NoReturn:
        raise _Return(value)

    def fail(message: str, node: object = None) -> NoReturn:
        raise CompilerError(message)

    def dispatch(name: str, macro_namespace: str | None = None) -> Macro:
        for prefix in ("spark__", "default__"):
            if prefix + name in macros:
                return macros[prefix + name]
        raise CompilerError(f"no spark__{name} or default__{name}")

    def variable(name: str, default: Any = None) -> Any:
        return variables.get(name, default)

    def from_json(text: str, default: Any = None) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return default

    def quiet(*_: object, **__: object) -> str:
        return ""

    return {
        PACKAGE: macros,
        "context": ChainMap({PACKAGE: macros}, macros),  # as dbt has it: also each by itself
        "return": give_back,
        "invocation_id": "",
        "dbt_version": "1.11",
        "exceptions": SimpleNamespace(raise_compiler_error=fail, warn=quiet),
        "adapter": SimpleNamespace(quote=lambda name: f"`{name}`", dispatch=dispatch),
        "modules": MODULES,
        "tojson": lambda value, **options: json.dumps(value, **options),
        "fromjson": from_json,
        "log": quiet,
        "print": quiet,
        "env_var": lambda name, default=None: default,
        "execute": True,
        "var": variable,
        "set": set,
        "zip": zip,
    }
