import os

import pytest
from hypothesis import settings

from cli_program import prefero_inside as prefero
from cli_tables import colours
from prefero.datasets import benchmarks_folder

# A loaded machine is no failure. New examples are looked for at every desk; a submission is judged
# by the same ones each time.
settings.register_profile("prefero", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("prefero")


@pytest.fixture(scope="session")
def benchmarks():
    """The folder of benchmark files, which a user has not: then the test is skipped."""
    folder = benchmarks_folder()
    if folder is None:
        pytest.skip("no benchmark files: set PREFERO_DATA to their folder")
    return folder


@pytest.fixture
def write(tmp_path):
    """Write a file into a folder of the test's own and return its path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def path(tmp_path):
    """Where a model may be saved."""
    return tmp_path / "model.prefero"


@pytest.fixture(scope="session")
def table():
    """Rankings that one number and one word decide, with ids and without missing cells."""
    return colours()


@pytest.fixture(scope="session")
def folder(table, tmp_path_factory):
    """A folder with the table, its features alone, and a model of it."""
    folder = tmp_path_factory.mktemp("files")
    table.to_csv(folder / "data.csv", index=False)
    table[["colour", "size", "id"]].to_csv(folder / "new.csv", index=False)
    arguments = ("--labels", "y_*", "--format", "scores", "--higher-is-better", "--ignore", "id")
    done = prefero(
        *("train", folder / "data.csv", "-o", folder / "model.prefero", "--model", "neighbors"),
        *arguments,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return folder
