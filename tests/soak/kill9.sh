#!/bin/sh
# The promise of tests/e2e/kill9.sh, kept 50 times in a row.
KILLS=${KILLS:-50} E2E_SECONDS=900
export KILLS E2E_SECONDS
exec "${srcdir:-.}/tests/e2e/kill9.sh"
