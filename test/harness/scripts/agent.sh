#!/usr/bin/env bash
# Stands for an agent program in a terminal: `agent.sh ROLES DIRECTORY [--session-id ID …]`. Each process it is made of writes its role
# and pid into DIRECTORY/pids. ROLES (commas): child, ignoring, setsid, orphan, daemon, stray, tidy, forking, daemonizing, self-ignoring.
roles=",$1," dir=$2
has() { [[ $roles == *",$1,"* ]]; }
# `exec` keeps the pid that was written; the number makes each sleep easy to tell apart.
member() { echo "$1 $BASHPID" >> "$dir/pids"; exec sleep "$2"; }

has child && (member child 3001) &
# A grandchild that does not mind SIGTERM, below a child that does.
has ignoring && ( (trap '' TERM HUP; member ignoring 3002) & member ignoring-parent 3003) &
# In a process session of its own, but still a child.
has setsid && setsid bash -c 'echo "setsid $$" >> "$0/pids"; exec sleep 3004' "$dir" &
# Forked twice: its parent has ended, it stays in the terminal's process session.
has orphan && ( (trap '' HUP; member orphan 3005) & )
# Forked twice and in a session of its own: nothing but its environment tells where it comes from.
has daemon && (setsid bash -c 'echo "daemon $$" >> "$0/pids"; exec sleep 3006' "$dir" &)
has stray && (cd /; setsid bash -c 'echo "stray $$" >> "$0/pids"; exec sleep 3007' "$dir" &)
# Cleans up when it is asked to end; when the pane's own program ends first, the terminal hangs up, which it does not mind.
has tidy && (trap '' HUP; trap 'echo "tidied $BASHPID" >> "$dir/pids"; exit 0' TERM; echo "tidy $BASHPID" >> "$dir/pids"; while :; do sleep 3012 & wait $!; done) &
# On SIGTERM: one more child, or one more daemon, that ignores it from its birth on; then the end.
has forking && trap 'trap "" TERM HUP; (member born 3008) & exit 0' TERM
has daemonizing && trap 'trap "" TERM HUP; (setsid bash -c '\''echo "born-daemon $$" >> "$0/pids"; exec sleep 3009'\'' "$dir" &); exit 0' TERM
has self-ignoring && trap '' TERM

echo "agent $$" >> "$dir/pids"
while :; do sleep 3600 & wait $!; done
