#!/usr/bin/env bash
# Run a command that is silent for long: progress.sh LOG COMMAND...
# On a terminal a line says how many files of the core are compiled and how long it has taken. What
# the command prints goes to LOG, and is shown if it fails.
set -u
log=$1
shift
mkdir -p "$(dirname "$log")"
touch "$log.begin"
"$@" > "$log" 2>&1 &
child=$!
trap 'kill "$child" 2> /dev/null; exit 130' INT TERM
files=$(find src/core src/bindings -name '*.cpp' | wc -l)
begin=$SECONDS
while kill -0 "$child" 2> /dev/null; do
    if [ -t 1 ]; then
        made=$(find build -path '*CMakeFiles*' -name '*.cpp.o' -newer "$log.begin" 2> /dev/null | grep -c -e src/core -e src/bindings)
        if [ "$made" -gt 0 ]; then
            printf '\r   %d of %d files compiled, %d s ' "$made" "$files" "$((SECONDS - begin))"
        else
            printf '\r   fetching packages, %d s ' "$((SECONDS - begin))"
        fi
    fi
    sleep 1
done
if wait "$child"; then
    [ -t 1 ] && printf '\r'
    printf '   done in %d s            \n' "$((SECONDS - begin))"
else
    status=$?
    printf '\n'
    cat "$log" >&2
    exit "$status"
fi
