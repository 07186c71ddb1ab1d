"""Groups of options reach the commands that share them."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from prefero.cli.options import with_option_groups


@dataclass(frozen=True)
class Place:
    row: Annotated[int, typer.Option("--row", help="Which row.")] = 1


@dataclass(frozen=True)
class Cell(Place):
    column: Annotated[str | None, typer.Option("--column", help="Which column.")] = None


@pytest.fixture
def told():
    """An application of one command, and what the command was given."""
    given = []
    app = typer.Typer()

    @app.command()
    @with_option_groups
    def show(
        file: Annotated[str, typer.Argument(help="A file.")],
        *,
        place: Place,
        loud: Annotated[bool, typer.Option("--loud")] = False,
        cell: Cell,
    ) -> None:
        """Show a cell."""
        given.append((file, place, loud, cell))

    return app, given


def test_a_shared_option_reaches_every_group(told):
    app, given = told
    done = CliRunner().invoke(app, ["f", "--column", "x", "--row", "3", "--loud"])
    assert done.exit_code == 0, done.output
    assert given == [("f", Place(3), True, Cell(3, "x"))]


def test_defaults_are_those_of_the_group(told):
    app, given = told
    assert CliRunner().invoke(app, ["f"]).exit_code == 0
    assert given == [("f", Place(1), False, Cell(1, None))]


def test_a_shared_option_stands_where_the_first_group_does(told):
    app, _ = told
    text = CliRunner().invoke(app, ["--help"]).output
    places = [text.index(name) for name in ("Show a cell", "--row", "--loud", "--column")]
    assert places == sorted(places)
    assert text.count("--row") == 1
