"""The code behind a figure: what belongs to it, and that a change of it is noticed."""

import pytest

from prefero import ConsensusLabelRanker, ForestLabelRanker, make_ranking_pipeline
from prefero.datasets import make_label_ranking
from prefero.evaluation import _run_store, experiment, run_experiment


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Stand a small package in for Prefero: first imports second inside a function."""
    sources = {
        "first": "def f():\n    from prefero import second\n",
        "second": "from prefero.package import x",
        "package/__init__": "x = 1",
        "package/late": "z = 1",
        "other": "y = 1",
    }
    (tmp_path / "package").mkdir()
    for name, text in sources.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "package" / "__init__.pyi").write_text("from .late import z")
    monkeypatch.setattr(_run_store, "_ROOT", tmp_path)
    monkeypatch.setattr(_run_store, "_ALWAYS", ())
    return tmp_path


def named():
    _run_store._imported.cache_clear()
    _run_store._digest_of_file.cache_clear()
    thing = type("Thing", (), {"__module__": "prefero.first"})
    return _run_store.code_of(thing())


@pytest.mark.parametrize("changed", ["first", "second", "package/__init__", "package/late"])
def test_a_change_of_what_is_imported_is_noticed(package, changed):
    before = named()
    with (package / f"{changed}.py").open("a") as file:
        file.write("\nmore = 2\n")
    assert named() != before


def test_a_change_elsewhere_is_not(package):
    before = named()
    (package / "other.py").write_text("y = 2")
    assert named() == before


def test_a_script_depends_on_those_that_it_imports(tmp_path):
    for name, text in {"a": "import b", "b": "from c import d", "c": "d = 1", "e": ""}.items():
        (tmp_path / f"{name}.py").write_text(text)
    before = _run_store.all_code(tmp_path / "a.py")
    for name, same in {"e": True, "c": False}.items():
        (tmp_path / f"{name}.py").write_text("d = 2")
        _run_store._digest_of_file.cache_clear()
        assert (_run_store.all_code(tmp_path / "a.py") == before) is same


def test_a_ranker_does_not_depend_on_other_rankers():
    modules = ForestLabelRanker.__module__, *_run_store._ALWAYS
    starts = [_run_store._path(module) for module in modules]
    reached = _run_store._reached(starts, _run_store._imported_paths)
    files = {path.relative_to(_run_store._ROOT).as_posix() for path in reached}
    assert {"label_ranking/forest.py", "_trees/_arrays.py", "evaluation/_tasks.py"} <= files
    assert not files & {"label_ranking/boosting.py", "cli/main.py", "persistence/__init__.py"}


def test_the_last_step_of_a_pipeline_counts():
    pipelines = [make_ranking_pipeline(r()) for r in (ForestLabelRanker, ConsensusLabelRanker)]
    assert len({_run_store.code_of(pipeline) for pipeline in pipelines}) == 2


def test_functions_are_known_by_their_source():
    assert "assert" in _run_store.source_of(test_functions_are_known_by_their_source)
    assert _run_store.source_of(len) == ""


def test_cells_of_other_code_are_computed_again(tmp_path, monkeypatch):
    data = {"toy": make_label_ranking(30, n_labels=3, random_state=0)}
    run = {"rankers": {"constant": ConsensusLabelRanker()}, "data": data, "n_splits": 3}
    asked = []
    details = {"asked": lambda model: asked.append(model) or 0.0}
    for _ in range(2):
        run_experiment(**run, folder=tmp_path, details=details)
    assert len(asked) == 3
    monkeypatch.setattr(experiment, "code_of", lambda *things: "other")
    run_experiment(**run, folder=tmp_path, details=details)
    assert len(asked) == 6
