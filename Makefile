# make demo   install into .venv and show the whole story on data that ships
# make test   install with the development tools and run every test
# make test-kernel  the Python tests again, under a BLAS kernel that this machine does not choose
# make test-oldest  the Python tests on the oldest versions that pyproject.toml allows, in build/oldest
# make mutants      put deliberate bugs into the sources, one by one: which do the tests not notice?
# make attack       hostile model files and tables, kills, full disks: the counts of docs/results/reliability.md
# make sanitize     the Python tests on a core under the address and undefined-behaviour sanitizers, in build/sanitize;
#                   the next make attack puts its counts on that page too
# make lint   ruff, mypy, import-linter, clang-format
# make tidy   clang-tidy over the core, by .clang-tidy (FILES=src/core/tree.cpp for some of it)
# make format rewrite the sources in the house style
# make docs   the site in build/docs/html, without a warning
# make look   look at that site in a browser, narrow and wide, light and dark: pictures in build/look
# make sdist  the source archive in dist/, checked
# make wheel  the wheel of this Python in dist/, built from that archive, checked, and tried in an empty environment;
#             PYTHONS="python3.11 python3.12 python3.14" for several
# make coverage  how much of the package the Python tests run
# make review how the project stands to the habits of the field: sp-repo-review, codespell, zizmor for the workflows
# make check-stubs  whether src/prefero/_core.pyi is what make stubs would write
# make stubs  write src/prefero/_core.pyi anew from the compiled module

VENV := .venv
BIN := $(VENV)/bin
CXX ?= g++
NATIVE := CMakeLists.txt pyproject.toml $(wildcard src/core/*.hpp src/core/*/*.hpp src/core/*.cpp src/bindings/*)
CPP_FILES := $(wildcard src/core/*.hpp src/core/*/*.hpp src/core/*.cpp src/bindings/* tests/cpp/*)
SAY := @printf '\n== %s\n'

.PHONY: demo test test-kernel test-oldest mutants attack sanitize cpp-test lint tidy format stubs check-stubs docs look sdist wheel coverage review clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed
	$(SAY) "Running prefero demo"
	@$(BIN)/prefero demo

test: $(VENV)/.installed-dev cpp-test
	$(SAY) "Running the Python tests"
	@$(BIN)/python -m pytest -n auto -q

# What only starts programs, reads files or pages does no arithmetic of its own, nor do scikit-learn's
# checks of how estimators behave.
NO_KERNEL := $(addprefix --ignore=tests/,attack cli distributed docs report reproduction serve tables \
  inspection/test_displays.py inspection/test_pictures.py persistence/test_hostile_files.py \
  persistence/test_hostile_inner_models.py test_backends.py test_degenerate_input.py test_release.py \
  test_user_stories.py) -k 'not test_scikit_learn'

test-kernel: $(VENV)/.installed-dev
	$(SAY) "Running the Python tests under another kernel of OpenBLAS"
	@kernel=$$($(BIN)/python tools/other_kernel.py) && test -n "$$kernel" || { echo "There is none here."; exit; }; \
	echo "OPENBLAS_CORETYPE=$$kernel" && OPENBLAS_CORETYPE=$$kernel $(BIN)/python -m pytest -n auto -q $(NO_KERNEL)

OLDEST := build/oldest

test-oldest: $(OLDEST)/.installed
	$(SAY) "Running the Python tests on the oldest versions that pyproject.toml allows"
	@$(OLDEST)/bin/python -m pytest -n auto -q -W default::DeprecationWarning

# Python 3.11 where there is one, as the oldest packages are older than the newest Python.
$(OLDEST)/.installed: $(NATIVE)
	@bash tools/check-compiler.sh "$(CXX)"
	$(SAY) "Installing the oldest versions in $(OLDEST)"
	@"$$(PYTHON=python3.11 bash tools/find-python.sh)" -m venv --clear $(OLDEST)
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct -e ".[dev]"
	@touch $@

mutants: $(VENV)/.installed-dev
	@$(BIN)/python tools/mutants.py

attack: $(VENV)/.installed-dev
	$(SAY) "Attacking Prefero (build/attack keeps what is done; remove it to begin anew)"
	@PYTHONPATH=tests:tests/support $(BIN)/python -m attack

SANITIZED := build/sanitize
SANITIZERS := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
# Python is not sanitized, so the run-time libraries have to be there before it, and with them the
# one whose exceptions they watch; its leaks are not ours.
SANITIZER_LIBRARIES := $$(for name in asan ubsan stdc++; do $(CXX) -print-file-name=lib$$name.so; done | xargs)

# All tests but those that only start programs (see NO_KERNEL).
sanitize: $(SANITIZED)/.installed
	$(SAY) "Running the Python tests under AddressSanitizer and UBSan"
	@LD_PRELOAD="$(SANITIZER_LIBRARIES)" ASAN_OPTIONS=detect_leaks=0 \
	  $(SANITIZED)/bin/python -X faulthandler -m pytest -n auto -q tests $(NO_KERNEL) \
	  --junitxml=$(SANITIZED)/report.xml

# A build folder of its own: that of make test keeps the flags it was made with.
$(SANITIZED)/.installed: $(NATIVE)
	@bash tools/check-compiler.sh "$(CXX)"
	$(SAY) "Compiling the core with sanitizers, in $(SANITIZED)"
	@"$$(bash tools/find-python.sh)" -m venv $(SANITIZED)
	@CXXFLAGS="$(SANITIZERS)" LDFLAGS="$(SANITIZERS)" \
	  $(SANITIZED)/bin/python -m pip install --quiet --disable-pip-version-check \
	  -C build-dir=$(SANITIZED)/cmake -C cmake.build-type=Debug -e ".[dev]"
	@touch $@

$(VENV)/bin/python:
	@bash tools/find-python.sh > /dev/null
	$(SAY) "Making a virtual environment in $(VENV)"
	@"$$(bash tools/find-python.sh)" -m venv $(VENV)

# Without build isolation, so that the build folder is kept and compiles what has changed alone.
BUILD_TOOLS = "scikit-build-core>=0.11" "nanobind>=2.9" ninja $$(command -v cmake > /dev/null || echo cmake)

$(VENV)/.installed: $(VENV)/bin/python $(NATIVE)
	@bash tools/check-compiler.sh "$(CXX)"
	$(SAY) "Installing Prefero and what it needs (the C++ core compiles, some minutes; later runs skip this)"
	@bash tools/progress.sh build/tools.log $(BIN)/python -m pip install --quiet --disable-pip-version-check $(BUILD_TOOLS)
	@bash tools/progress.sh build/install.log env PATH="$(CURDIR)/$(BIN):$$PATH" \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[cli]"
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(SAY) "Installing the development tools"
	@bash tools/progress.sh build/install-dev.log \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check "prefero[dev]"  # it is there: nothing compiles
	@touch $@

# The core alone, without Python, under the address and undefined-behaviour sanitizers;
# CXX=clang++ by another compiler, SCALAR=1 as compilers without vector types build it.
CPP_FLAGS := -std=c++17 -O1 -g -Wall -Wextra -Werror -Isrc -fsanitize=address,undefined -fno-sanitize-recover=all \
  $(if $(SCALAR),-DPREFERO_SCALAR)
CPP_BUILD := build/cpp/$(notdir $(CXX))$(if $(SCALAR),-scalar)
CPP_OBJECTS := $(patsubst %.cpp,$(CPP_BUILD)/%.o,$(wildcard src/core/*.cpp tests/cpp/*.cpp))

$(CPP_BUILD)/%.o: %.cpp $(wildcard src/core/*.hpp src/core/*/*.hpp tests/cpp/*.hpp)
	@mkdir -p $(dir $@)
	@$(CXX) $(CPP_FLAGS) -c $< -o $@

$(CPP_BUILD)/run: $(CPP_OBJECTS)
	@$(CXX) $(CPP_FLAGS) $^ -o $@

cpp-test:
	@bash tools/check-compiler.sh "$(CXX)"
	$(SAY) "Testing the C++ core under AddressSanitizer and UBSan"
	@$(MAKE) --no-print-directory -j2 $(CPP_BUILD)/run
	@$(CPP_BUILD)/run

lint: $(VENV)/.installed-dev
	$(SAY) "Linting"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)

FILES ?= $(wildcard src/core/*.cpp)

tidy: $(VENV)/.installed-dev
	$(SAY) "Looking for defects in the core"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "clang-tidy>=20"
	@$(BIN)/clang-tidy --quiet $(FILES) -- -std=c++17 -Isrc

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

stubs: $(VENV)/.installed-dev
	$(BIN)/python -m nanobind.stubgen -m prefero._core -o src/prefero/_core.pyi

check-stubs: $(VENV)/.installed-dev
	@$(BIN)/python -m nanobind.stubgen -q -m prefero._core -o build/_core.pyi && diff build/_core.pyi src/prefero/_core.pyi

$(VENV)/.installed-docs: $(VENV)/.installed-dev
	$(SAY) "Installing what builds the site"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "prefero[docs]"  # it is there: nothing compiles
	@touch $@

docs: $(VENV)/.installed-docs
	$(SAY) "Building the site in build/docs/html (the gallery runs, some minutes)"
	@$(BIN)/python -m sphinx -b html -W --keep-going -q -d build/docs/doctrees docs build/docs/html

look: $(VENV)/.installed-dev
	@$(BIN)/python tools/look_at_site.py

RELEASE := build/release

$(RELEASE)/.installed: pyproject.toml
	@"$$(bash tools/find-python.sh)" -m venv $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --group release
	@touch $@

ARCHIVE = dist/prefero-$(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml).tar.gz

sdist: $(RELEASE)/.installed
	$(SAY) "Building the source archive"
	@$(RELEASE)/bin/python -m build --sdist --outdir dist . > build/sdist.log || { cat build/sdist.log; exit 1; }
	@$(RELEASE)/bin/twine check --strict $(ARCHIVE)

# PYTHONS="python3.11 python3.12 python3.14" for those of a release: two wheels, tried in three.
wheel: sdist
	@bash tools/build-wheels.sh $(RELEASE)/bin $(ARCHIVE) $(or $(PYTHONS),"$$(bash tools/find-python.sh)")

coverage: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pytest-cov
	@$(BIN)/python -m pytest -n auto -q --cov --cov-report=term:skip-covered

review:
	@test -x build/review/bin/python || "$$(bash tools/find-python.sh)" -m venv build/review
	@build/review/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@build/review/bin/python -m pip install --quiet --disable-pip-version-check --group review
	@build/review/bin/python -m repo_review .
	@build/review/bin/codespell
	@test ! -d .github || build/review/bin/zizmor --offline .github/workflows

clean:
	rm -rf build $(VENV)
