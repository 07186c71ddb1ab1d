"""The guide's examples of what can be added are built, and work."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest

import prefero
from prefero import label_ranking
from prefero.checks import LABEL_RANKER_AXIOMS, run_axiom
from prefero.datasets import make_label_ranking
from prefero.exceptions import DataError
from prefero.tables import _reading, read_rankings

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "extending.md").read_text("utf-8")


def example(path):
    """The file that the guide shows under a path."""
    found = re.search(rf"```\w+\n(?://|#) {re.escape(path)}\n(.*?)```", GUIDE, re.DOTALL)
    return found[1]


def lines_that_start(start):
    """The lines of C++ that the guide shows for a file that is there."""
    blocks = re.findall(r"```cpp\n(.*?)```", GUIDE, re.DOTALL)
    return next(block for block in blocks if block.strip().startswith(start))


def module(path, monkeypatch):
    """The same as the module that it would be."""
    name = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    made = module_from_spec(spec_from_loader(name, loader=None))
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(example(path), path, "exec"), vars(made))
    return made


@pytest.fixture
def ranker(monkeypatch):
    made = module("src/prefero/label_ranking/least_squares.py", monkeypatch)
    cls = made.LeastSquaresLabelRanker
    monkeypatch.setitem(prefero._PUBLIC, cls.__name__, "label_ranking")
    monkeypatch.setattr(label_ranking, cls.__name__, cls, raising=False)
    return cls


def test_a_ranker_keeps_the_axioms(ranker):
    for axiom in LABEL_RANKER_AXIOMS:
        run_axiom(axiom, ranker())
    with pytest.raises(ValueError, match="'alpha' parameter of LeastSquaresLabelRanker"):
        ranker(alpha=-1).fit([[0.0], [1.0]], [[1, 2], [2, 1]])


def test_a_ranker_learns_and_is_saved(ranker, path):
    X, Y = make_label_ranking(200, 3, 4, theta=2.0, missing=0.2, random_state=0)
    fitted = ranker().fit(X[:100], Y[:100])
    constant = prefero.ConsensusLabelRanker().fit(X[:100], Y[:100])
    assert fitted.score(X[100:], Y[100:]) > constant.score(X[100:], Y[100:]) + 0.2
    prefero.save(fitted, path)
    np.testing.assert_array_equal(
        prefero.load(path).predict_pairwise(X), fitted.predict_pairwise(X)
    )


def test_a_format_is_read_and_its_errors_name_the_line(monkeypatch, write):
    form = module("src/prefero/tables/_lines.py", monkeypatch).FORMAT
    monkeypatch.setattr(_reading, "FORMATS", (form, *_reading.FORMATS))
    content = '{"age": 31, "tea": 1, "milk": 2}\n{"age": 45, "tea": 2, "milk": 1}\n'
    read = read_rankings(write(content, "cups.jsonl"), "tea,milk")
    np.testing.assert_array_equal(read.ranks, [[1, 2], [2, 1]])
    assert list(read.X) == ["age"]
    with pytest.raises(DataError, match=r"cups.jsonl:3: this line is no JSON object"):
        read_rankings(write(content + "tea\n", "cups.jsonl"), "tea,milk")


# One unit: the two growers and what they need of the core.
GROWS_THE_SAME = """
#include "core/criteria/plain.hpp"
#include "core/criteria/spread.hpp"
#include "core/grow.hpp"
#include "core/categories.cpp"
#include "core/grow_base.cpp"
#include "core/positions.cpp"
#include "core/sample.cpp"
#include "core/scan.cpp"
#include "core/targets.cpp"
#include "core/training_data.cpp"

using namespace prefero;

// Only the criterion of Mallows reads the table.
ThetaTable::ThetaTable(std::size_t) {}

struct Never : Interruption {
    bool wanted() noexcept override { return false; }
};

template <class Criterion>
Tree grown(const TrainingData& data) {
    const GrowOptions options{false, {2, 2, false, true}, {30, 2, 1, 0, 0.0, 0.0, false}};
    Never interruption;
    Sample sample(data);
    Criterion criterion(sample, options.stopping);
    sample.draw(false, 1, interruption);
    return Grower<Criterion>(sample, criterion, options, interruption).grow(2);
}

int main() {
    std::vector<std::uint8_t> bins;
    std::vector<double> ranks;
    for (unsigned r = 0; r < 60; ++r) {
        bins.push_back(r * 37 % 50);
        bins.push_back(r * 11 % 20);
        const bool turned = (bins[2 * r] < 20) != (r % 7 == 0);
        for (int k = 0; k < 4; ++k) ranks.push_back(turned ? k + 1 : 4 - k);
    }
    const bool numeric[] = {false, false};
    const auto data = TrainingData::rankings(CriterionKind::kKendall, {bins.data(), 60, 2}, numeric,
                                             {ranks.data(), 60, 4}, nullptr);
    const Tree plain = grown<PlainCriterion>(data), quick = grown<Spread<0>>(data);
    if (plain.nodes.size() < 6 || plain.nodes.size() != quick.nodes.size()) return 1;
    for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
        const Node one = plain.nodes[i], other = quick.nodes[i];
        if (one.feature != other.feature || one.cut != other.cut) return 2;
    }
    return plain.scores == quick.scores ? 0 : 3;
}
"""


@pytest.fixture
def compiled(tmp_path):
    """A function that compiles files of a copy of the core that has the guide's criterion."""
    compiler = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    shutil.copytree(ROOT / "src" / "core", tmp_path / "core")
    header = tmp_path / "core" / "criteria" / "plain.hpp"
    header.write_text(example("src/core/criteria/plain.hpp"))

    def run(*arguments):
        flags = ["-std=c++17", "-O0", "-Wall", "-Werror", f"-I{tmp_path}"]
        subprocess.run([compiler, *flags, *arguments], cwd=tmp_path, check=True)

    return run


def test_a_criterion_is_built_and_grows_the_trees_of_its_twin(compiled, tmp_path):
    (tmp_path / "guide.cpp").write_text(GROWS_THE_SAME)
    compiled("guide.cpp", "-o", "guide")
    assert subprocess.run([tmp_path / "guide"]).returncode == 0


def insert_above(path, line, new):
    text = path.read_text()
    assert text.count(line) == 1
    path.write_text(text.replace(line, new + line))


def test_the_core_compiles_with_the_lines_of_a_criterion(compiled, tmp_path):
    core = tmp_path / "core"
    forest = core / "forest.cpp"
    insert_above(core / "training_data.hpp", "    kKendall,\n", "    kPlain,\n")
    insert_above(forest, '#include "core/grow_task.hpp"', '#include "core/criteria/plain.hpp"\n')
    insert_above(forest, "        case CriterionKind::kEntropy", lines_that_start("case Criterion"))
    compiled("-fsyntax-only", "core/forest.cpp")


@pytest.mark.parametrize(
    ("path", "start"),
    [("src/core/forest.cpp", "case CriterionKind"), ("src/bindings/trees.cpp", "if (name")],
)
def test_the_lines_of_a_criterion_are_like_those_beside_them(path, start):
    beside = lines_that_start(start).replace("Plain", "MallowsEm").replace("plain", "mallows_em")
    assert beside in (ROOT / path).read_text()


def test_names_stand_in_the_files_that_the_guide_says():
    told = re.findall(r"`(\w+)` of\s+`(src/[\w/.]+)`", GUIDE)
    assert len(told) >= 5
    assert not [(name, path) for name, path in told if name not in (ROOT / path).read_text()]
