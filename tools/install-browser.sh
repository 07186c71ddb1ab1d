#!/usr/bin/env bash
# What the tests of the pages need and pip does not bring: chromium, from the distribution, and
# axe-core, from npm, in tools/node_modules. What is there already is left as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

install() {
  command -v apt-get > /dev/null || return 1
  for _ in 1 2 3; do
    as_root apt-get update -qq && as_root apt-get install -qq -y --no-install-recommends "$@" && return
    sleep 5
  done
  return 1
}

# Named unlike the programs, which it would be found in place of.
has_browser() {
  command -v chromium || command -v chromium-browser || command -v google-chrome
}

axe=tools/node_modules/axe-core/axe.min.js
axe_core() {
  command -v npm > /dev/null || install npm || return 1
  for _ in 1 2 3; do
    npm install --prefix tools --no-save --no-package-lock --no-audit --no-fund --silent axe-core@4 && test -f "$axe" && return
    sleep 5
  done
  return 1
}

export DEBIAN_FRONTEND=noninteractive
has_browser > /dev/null || install chromium || {
  echo "chromium is not here and could not be installed by apt-get: the pages cannot be tested." >&2
  exit 1
}
test -f "$axe" || axe_core || {
  echo "axe-core is not here and could not be installed by npm: the pages cannot be tested." >&2
  exit 1
}
