# SPDX-License-Identifier: GPL-2.0-or-later
"""fio in a guest: direct I/O in which what comes back is verified."""
from erdma.vm import VmError

SECONDS = 200           # limit of a run without a time of its own
STOPPED = 128           # exit status of a run that a signal ended
FOR_EVER = 7200         # seconds of a Load, which somebody stops before
FORTH_AND_BACK = ('--rw=randrw', '--bsrange=4k-32k', '--iodepth=8')
#: What a Load has to move until some of it was surely verified: more than is in flight, and more than
#: its blocks between two looks at what was written.
ENOUGH = 2 << 20
STATUS_MS = 250         # between two lines of a Load's state
#: Their fields, in fio's terse format, version 3: the error of the job; KiB read and written.
ERROR = 4
KIB = (5, 46)


def verified(name, file, *options, seconds=0):
    """argv of fio for a file or a disk. seconds: it goes on for so long; 0: until all is done.

    A job is a thread of fio and ends with it: as a process it would be in a session of its own.

    With a time fio goes over the file again while it verifies: without serialize_overlap a block may be
    written while it is read, and an NFS server sends the page as it is at that moment
    (docs/results/2026-11-nfs-overlap.md). A block with wrong data is left in the VM's results, beside what
    was expected.
    """
    timed = ['--time_based', f'--runtime={seconds}'] if seconds else []
    return ['fio', f'--name={name}', f'--filename={file}', '--direct=1', '--ioengine=libaio',
            '--thread',
            '--randrepeat=1', '--verify=crc32c', '--verify_fatal=1', '--verify_backlog=64',
            '--serialize_overlap=1', '--verify_dump=1', '--randseed=7', *options, *timed]


def run(vm, name, file, *options, seconds=0):
    """Run it to its end; raises VmError when data is wrong."""
    vm.run(verified(name, file, *options, seconds=seconds), SECONDS + 2 * seconds)


def moved(fields):
    """Bytes of the requests that have ended."""
    return sum(int(fields[x]) for x in KIB) << 10


class Load:
    """fio that goes on in a guest until stop(), reads and writes mixed, each block verified soon after
    it was written. No request may fail.

    How far it is, fio prints itself: /proc/PID/io is not there on every kernel.
    """

    def __init__(self, vm, file):
        self._vm = vm
        self._fio = vm.popen(verified('load', file, *FORTH_AND_BACK, '--size=4m', '--verify_backlog=16',
                                      f'--status-interval={STATUS_MS}ms', '--output-format=terse',
                                      seconds=FOR_EVER))
        self.wait_moved(60)

    def _fields(self):
        """Fields of the last whole line of its state; [] before the first."""
        lines = '\n' + self._fio.out.rpartition('\n')[0]
        start = lines.rfind('\n3;')
        return lines[start + 1:].partition('\n')[0].split(';') if start >= 0 else []

    def _wait(self, what, check, limit):
        """Until check(fields) is true; returns the fields."""
        def checked():
            fields = self._fields()
            if not self._fio.running:
                raise VmError(f'fio ended:\n{self._fio.text}')
            return fields if check(fields) else None
        return self._vm.wait_until(what, checked, limit)

    def wait_moved(self, limit):
        """From now on data moves, and some of it was verified. While all of its requests wait fio
        prints nothing.
        """
        known = self._fields()
        before = moved(self._wait('the state of fio', lambda x: x != known, limit))
        self._wait('data to move', lambda x: moved(x) >= before + ENOUGH, limit)

    def stop(self):
        """It ends, and no request has failed."""
        self._vm.run('pkill -INT -x fio')
        done = self._fio.wait(60, check=False)
        if done.status != STOPPED or self._fields()[ERROR] != '0':
            raise VmError(f'fio failed, status {done.status}:\n{done.text}')
