"""The glossary of the design page names what exists, and no public name uses an abandoned word."""

import inspect
import re

import pytest

import prefero
from doc_names import ROOT, commands, packages


def rows():
    page = (ROOT / "docs" / "design.md").read_text("utf-8")
    table = page[page.index("## Glossary") :]
    cells = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in cells[1:]]


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


def public_names():
    """Public names of packages, their parameters, methods and documented attributes; options."""
    found = {option for known in commands().values() for option in known} | set(prefero.__all__)
    for package in packages():
        for name in package.__all__:
            thing = getattr(package, name)
            found.add(name)
            if not callable(thing):
                continue
            parts = [member for member in dir(thing) if not member.startswith("_")]
            functions = [thing, *(getattr(thing, part) for part in parts)]
            for function in filter(callable, functions if inspect.isclass(thing) else [thing]):
                try:
                    found.update(inspect.signature(function).parameters)
                except (TypeError, ValueError):  # a builtin without a signature
                    continue
            if inspect.isclass(thing):
                found.update(parts)
                for line in re.findall(r"^    (\w+_(?:, \w+_)*) :", thing.__doc__ or "", re.M):
                    found.update(line.split(", "))
    return found


NAMES = public_names()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_names_are_public_and_abandoned_words_are_not(row):
    _, meaning, names, abandoned = row
    assert meaning
    assert set(code(names)) <= NAMES
    assert not {word.strip() for word in abandoned.split(",")} & NAMES
