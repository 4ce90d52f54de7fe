#!/bin/sh
# Runs every fuzz target of the module for $FUZZ each; the go tool takes one target at a time.
set -eu
for pkg in $(${GO:-go} list ./...); do
	for target in $(${GO:-go} test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "== $pkg $target"
		${GO:-go} test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZ:-10s}" "$pkg"
	done
done
