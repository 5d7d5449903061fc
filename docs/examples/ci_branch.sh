#!/bin/sh
# What a pull request would do to production's entities, tried in a branch (docs/branches.md).
#   sh ci_branch.sh BRANCH DATE ENTITY...
# DATE: the last date that is committed, which is loaded anew, or the next one.
# Exit code 0: loaded and tested.
set -eu
branch=$1 date=$2
shift 2

spark-cdc branch drop "$branch" > /dev/null 2>&1 || true # of a job that was killed
spark-cdc branch create "$branch" --select "$@"
trap 'spark-cdc branch drop "$branch"' EXIT

spark-cdc load "$date" --select "$@" --branch "$branch"
SPARK_CDC_SCHEMA=$branch dbt seed # what tests compare with
SPARK_CDC_SCHEMA=$branch dbt test --select "$@" --exclude tag:spark_cdc_verify test_type:unit
for entity in "$@"; do
    spark-cdc diff "$entity" --branch "$branch"
done
