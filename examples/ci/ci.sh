#!/bin/sh
# ci.sh - record on demand, replay on every push, bundle on failure.
#
#   ci.sh record COMMAND...   by hand or on a schedule, with keys: writes the cassettes,
#                             which are then committed
#   ci.sh replay COMMAND...   on every push: no keys, no network. When it fails, it leaves
#                             a bundle that replays the same failure on any machine, and
#                             a page that says how
#
# For any CI system; github-actions.yml beside it calls it. From the environment:
#   CASSETTES     folder of the recordings         (cassettes)
#   OUTPUTS       where results of a replay go     (outputs)
#   BUNDLES       where bundles go                 (bundles)
#   RUN_ID        name of the run and its bundle   (ci-<number of the CI run>)
#   SUMMARY       Markdown is added to this file   (the CI system's page, or summary.md)
#   RETAPE, RETAPE_BUNDLER   the programs, when they are not on the PATH
#
# The exit status is that of retape: 1 the command failed, 2 it asked for something that
# was not recorded, 3 the machine is to blame.
set -eu

cassettes=${CASSETTES:-cassettes}
outputs=${OUTPUTS:-outputs}
bundles=${BUNDLES:-bundles}
run_id=${RUN_ID:-ci-${GITHUB_RUN_ID:-${CI_PIPELINE_ID:-local}}}
summary=${SUMMARY:-${GITHUB_STEP_SUMMARY:-summary.md}}
retape=${RETAPE:-retape}
bundler=${RETAPE_BUNDLER:-retape-bundle}

usage() {
    echo "usage: ci.sh record|replay COMMAND..." >&2
    exit 2
}

record() {
    "$retape" record --cassettes "$cassettes" --overwrite --run-id "$run_id" -- "$@"
    "$retape" list --cassettes "$cassettes"
}

# What a colleague needs: the recordings, what came out, and how to run it again.
leave_bundle() {
    bundle=$bundles/$run_id.tar.gz
    "$bundler" create --run-id "$run_id" --cassettes "$cassettes" \
        --run "$outputs/run.json" --summary "$outputs/summary.json" --output "$bundle"
    "$bundler" summary --markdown --command "$*" "$bundle" >>"$summary"
}

replay() {
    status=0
    "$retape" replay --cassettes "$cassettes" --output "$outputs" --run-id "$run_id" \
        -- "$@" || status=$?
    if [ "$status" -eq 0 ]; then
        "$bundler" summary --markdown --command "$*" "$outputs" >>"$summary"
    else
        leave_bundle "$@" || echo "ci.sh: no bundle was made, see above" >&2
    fi
    return "$status"
}

[ $# -ge 2 ] || usage
verb=$1
shift
case $verb in
record) record "$@" ;;
replay) replay "$@" ;;
*) usage ;;
esac
