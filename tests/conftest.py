import os

import pytest
from hypothesis import settings

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
