# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines of a kernel's log are complaints."""
import re

# What a healthy kernel never prints.
COMPLAINT = re.compile(
    r'BUG: |WARNING: |Oops: |UBSAN: |possible deadlock|possible recursive locking|KASAN: |KCSAN: |'
    r'refcount_t|general protection|Call Trace|INFO: task .* blocked|'
    r'INFO: trying to register non-static key|rcu: INFO|'
    r'DMA-API: (?!preallocated|debugging enabled)|leaked|Kernel panic|Bad page state')
# A crash of a program is reported by its exit status, and is not the kernel's.
PROGRAM_CRASH = re.compile(r'traps: \S+\[\d+\] general protection fault ip:')
# What follows until the end mark was asked for by the host (Vm.save_tasks()).
ASKED_BEGIN = 'erdma-vm: tasks asked for'
ASKED_END = 'erdma-vm: end of tasks'


class KernelLog:
    """The console of one life of a VM, read as it grows."""

    def __init__(self, path):
        self.path = path
        self._offset = 0
        self._rest = ''
        self._asked = False

    def new_lines(self):
        """Whole lines since the last call."""
        try:
            with open(self.path, 'rb') as f:
                f.seek(self._offset)
                data = f.read()
        except OSError:
            return []
        self._offset += len(data)
        *lines, self._rest = (self._rest + data.decode(errors='replace')).split('\n')
        return [x.rstrip('\r') for x in lines]

    def complaints(self, allowed=()):
        """Complaints since the last call, but those that match one of @allowed (regexes)."""
        found = []
        for line in self.new_lines():
            if ASKED_BEGIN in line or ASKED_END in line:
                self._asked = ASKED_BEGIN in line
            if self._asked or PROGRAM_CRASH.search(line):
                continue
            if COMPLAINT.search(line) and not any(re.search(x, line) for x in allowed):
                found.append(line.strip())
        return found


def from_first_complaint(path):
    """The lines of a console's log from the first complaint on; [] if there is none."""
    lines = KernelLog(path).new_lines()
    return next((lines[at:] for at, line in enumerate(lines) if COMPLAINT.search(line)), [])


def has_panicked(lines):
    """Did the kernel that printed these lines panic?"""
    return any('Kernel panic' in line for line in lines)


def leaks(text, allowed=()):
    """Objects in what kmemleak printed, one line each: what it is and who allocated it."""
    objects = re.split(r'^(?=unreferenced object)', text, flags=re.M)
    found = [x for x in objects if x.strip() and not any(re.search(a, x) for a in allowed)]
    return [re.sub(r'\s+', ' ', re.sub(r'hex dump.*?(?=backtrace)|\[<\w+>\] ', '', x, flags=re.S))
            for x in found]
