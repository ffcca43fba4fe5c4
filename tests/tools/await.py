"""Wait for a file to have content, or for a process to be gone.

    await.py FILE [PID]     until FILE is not empty; fails early when PID has ended
    await.py --gone PID     until PID has ended (or is a zombie)

Gives up after AWAIT_SECONDS (20) with exit status 1.
"""
import os
import sys
import time


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ready(path):
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False


def main():
    gone = sys.argv[1] == "--gone"
    pid = sys.argv[2] if len(sys.argv) > 2 else None
    end = time.monotonic() + float(os.environ.get("AWAIT_SECONDS", 20))
    while time.monotonic() < end:
        running = pid is None or alive(pid)
        if gone and not running or not gone and ready(sys.argv[1]):
            return 0
        if not running:
            return 1
        time.sleep(0.01)
    print(f"await: gave up waiting: {' '.join(sys.argv[1:])}", file=sys.stderr)
    return 1


sys.exit(main())
