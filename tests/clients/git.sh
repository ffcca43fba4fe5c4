#!/bin/sh
# git clone over smart HTTP, then what was cloned.
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/retape-clone.XXXXXX")
trap 'rm -rf "$folder"' EXIT
GIT_TERMINAL_PROMPT=0 git -c protocol.version=2 clone -q https://git.test/repo.git "$folder/repo"
git -C "$folder/repo" log --format='%H %s'
git -C "$folder/repo" ls-tree -r HEAD
cat "$folder/repo/readme"
