#!/usr/bin/env bash
# Build a wheel from a source archive with each Python, check it, and try it where there is nothing
# else: build-wheels.sh TOOLS ARCHIVE PYTHON...
# TOOLS is the folder of programs that check it. A wheel of 3.12 serves all later versions, so for
# these it is tried and not built again.
set -euo pipefail
tools=$(cd "$1" && pwd)
archive=$(realpath "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
cp "$here/test_installed.py" "$away"
mkdir -p dist

for python in "$@"; do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
        echo "$python does not run: name the Pythons to build for with PYTHONS=\"/path/to/one /path/to/other\"." >&2
        exit 1
    }
    [ "$version" = 3.11 ] && tag=cp311-cp311 || tag=cp312-abi3
    "$python" -m venv "$away/$version"
    own="$away/$version/bin/python"
    "$own" -m pip install --quiet --disable-pip-version-check --upgrade pip
    if ! ls "$away"/*"$tag"*.whl > /dev/null 2>&1; then
        printf '\n== Building the wheel of Python %s\n' "$version"
        bash "$here/progress.sh" "build/wheel-$version.log" "$own" -m pip wheel --no-deps --wheel-dir "$away" "$archive"
        wheel=$(ls "$away"/*"$tag"*.whl)
        "$tools/twine" check --strict "$wheel"
        "$tools/check-wheel-contents" --config "$here/../pyproject.toml" "$wheel"
        case $wheel in *abi3*) "$tools/abi3audit" --strict "$wheel" ;; esac
        cp "$wheel" dist/
    fi
    printf '\n== Trying it in an empty environment of Python %s\n' "$version"
    "$own" -m pip install --quiet --disable-pip-version-check "$(ls "$away"/*"$tag"*.whl)[cli]"
    (cd "$away" && "$own" test_installed.py)
    printf '\n== Running the examples of its docstrings there\n'
    "$own" -m pip install --quiet --disable-pip-version-check pytest "$(ls "$away"/*"$tag"*.whl)[cli,distributed,excel,serve]"
    (cd "$away" && "$own" -m pytest -q --doctest-modules --pyargs prefero -W error \
        -o doctest_optionflags="NORMALIZE_WHITESPACE ELLIPSIS")
done
printf '\n'
ls -l dist/
