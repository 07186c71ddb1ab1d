"""The package as a whole: its public names, its compiled part, its weight."""

import subprocess
import sys
from importlib.resources import files

import pytest

import prefero


@pytest.mark.parametrize("name", prefero.__all__)
def test_every_public_name_can_be_reached(name):
    assert getattr(prefero, name) is not None
    assert name in dir(prefero)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        prefero.__getattr__("Nonsense")


def test_the_stubs_match_the_compiled_module(tmp_path):
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "prefero._core", "-o", fresh]
    subprocess.run(command, check=True)
    stored = files("prefero").joinpath("_core.pyi").read_text(encoding="utf-8")
    assert fresh.read_text(encoding="utf-8") == stored, "run `make stubs`"


def test_the_package_is_typed():
    assert files("prefero").joinpath("py.typed").is_file()


def test_importing_the_package_does_not_import_scikit_learn():
    program = "import sys, prefero; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
