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
  # A wait that a signal interrupts is taken up again: the command may have something to finish. Of one that was gone before
  # the first, the last wait knows what it ended with; to that, a command that was waited for is not known (127).
  code=127
  while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    code=$?
  done
  wait "$child" 2>/dev/null
  last=$?
  [ "$last" -eq 127 ] || code=$last
  [ -n "$ended" ] && exit "$code"
  if [ "$code" -eq 2 ]; then
    echo "every.sh: ended with 2, which no repetition mends" >&2
    exit 2
  fi
  echo "every.sh: ended with $code; again in $seconds s" >&2
  sleep "$seconds" &
  child=$!
  [ -z "$ended" ] || kill "$child" 2>/dev/null
  wait "$child"
done
exit 143
