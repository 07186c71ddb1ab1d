"""Docstrings as users see them: shared parts are filled in, none is left open."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import prefero
from doc_names import ROOT, packages
from prefero._docs import SharedText, documented


def test_a_part_takes_the_indentation_of_its_place():
    @documented(one="a : int\n    First.\n\n    More.")
    def function():
        """Do.

        Parameters
        ----------
        %(one)s
        b : int
            100 %(one)s stays.
        """

    assert inspect.getdoc(function).splitlines()[4:] == [
        "a : int",
        "    First.",
        "",
        "    More.",
        "b : int",
        "    100 %(one)s stays.",
    ]


def test_a_class_is_filled_with_its_methods():
    @documented(one="a : int")
    class Thing:
        """A thing.

        %(one)s
        """

        def method(self):
            """Do.

            %(one)s
            """

        @classmethod
        def maker(cls):
            """Make.

            %(one)s
            """

    for documented_by in (Thing, Thing.method, Thing.maker):
        assert inspect.getdoc(documented_by).endswith("\n\na : int")


def _documented_things(module):
    for thing in vars(module).values():
        if getattr(thing, "__module__", None) == module.__name__:
            yield thing
            yield from vars(thing).values() if inspect.isclass(thing) else ()


def test_no_place_is_left_open():
    names = [info.name for info in pkgutil.walk_packages(prefero.__path__, "prefero.")]
    modules = [importlib.import_module(name) for name in names if "._core" not in name]
    things = (thing for module in modules for thing in _documented_things(module))
    docs = [inspect.getdoc(thing) for thing in things if thing is not SharedText]
    assert len(docs) > 500
    assert not [doc for doc in docs if isinstance(doc, str) and "\n%(" in doc]


def without_example(things):
    """Names of the functions and classes whose docstring shows no call; pytest runs those shown."""
    finder = doctest.DocTestFinder(recurse=False, exclude_empty=False)
    called = {name: thing for name, thing in things.items() if callable(thing)}
    named = {name: thing for name, thing in called.items() if hasattr(thing, "__qualname__")}
    return [
        name
        for name, thing in named.items()
        if not any(found.examples for found in finder.find(thing, name))
    ]


@pytest.mark.parametrize("room", packages(), ids=lambda room: room.__name__)
def test_every_public_name_has_an_example(room):
    assert not without_example({name: getattr(room, name) for name in room.__all__})


def test_a_name_without_an_example_is_found():
    def silent():
        """Do."""

    def shown():
        """Do.

        >>> 1 + 1
        2
        """

    assert without_example({"silent": silent, "shown": shown, "NUMBER": 3}) == ["silent"]


def test_pytest_runs_the_examples_of_the_package(request):
    assert request.config.getoption("--doctest-modules")
    assert "src/prefero" in request.config.getini("testpaths")
    assert (ROOT / "src" / "prefero").is_dir()
