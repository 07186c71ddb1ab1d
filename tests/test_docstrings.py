"""Docstrings as users see them: shared parts are filled in, none is left open."""

import importlib
import inspect
import pkgutil

import prefero
from prefero._docs import documented


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
    docs = [inspect.getdoc(thing) for module in modules for thing in _documented_things(module)]
    assert len(docs) > 500
    assert not [doc for doc in docs if isinstance(doc, str) and "\n%(" in doc]
