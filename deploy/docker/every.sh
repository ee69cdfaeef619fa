#!/bin/sh
# every.sh SECONDS COMMAND...: runs the command, waits, and runs it again, until it is told to stop. What the command
# ended with is a line on standard error; only bad usage (2), which no repetition mends, ends this too.
set -u
seconds=$1
shift
child=
ended=
stop() {
  ended=1
  [ -z "$child" ] || kill -TERM "$child" 2>/dev/null
}
trap stop TERM INT
while [ -z "$ended" ]; do
  "$@" &
  child=$!
  [ -z "$ended" ] || kill -TERM "$child" 2>/dev/null
  # A wait that a signal interrupts is taken up again: the command may have something to finish.
  code=143
  while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    code=$?
  done
  wait "$child" 2>/dev/null
  [ -n "$ended" ] && exit "$code"
  echo "every.sh: ended with $code; again in $seconds s" >&2
  [ "$code" -eq 2 ] && exit 2
  sleep "$seconds" &
  child=$!
  [ -z "$ended" ] || kill "$child" 2>/dev/null
  wait "$child"
done
exit 143
