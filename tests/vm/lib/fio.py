# SPDX-License-Identifier: GPL-2.0-or-later
"""fio in a guest: direct I/O in which what comes back is verified."""
import re

from erdma.vm import VmError

SECONDS = 200           # limit of a run without a time of its own
STOPPED = 128           # exit status of a run that a signal ended
FOR_EVER = 7200         # seconds of a Load, which somebody stops before
FORTH_AND_BACK = ('--rw=randrw', '--bsrange=4k-32k', '--iodepth=8')
#: What a Load has to move until some of it was surely verified: more than is in flight, and more than
#: its blocks between two looks at what was written.
ENOUGH = 2 << 20


def verified(name, file, *options, seconds=0):
    """argv of fio for a file or a disk. seconds: it goes on for so long; 0: until all is done.

    A job is a thread of fio and ends with it: as a process it would be in a session of its own.
    """
    timed = ['--time_based', f'--runtime={seconds}'] if seconds else []
    return ['fio', f'--name={name}', f'--filename={file}', '--direct=1', '--ioengine=libaio',
            '--thread',
            '--randrepeat=1', '--verify=crc32c', '--verify_fatal=1', '--verify_backlog=64',
            '--randseed=7', *options, *timed]


def run(vm, name, file, *options, seconds=0):
    """Run it to its end; raises VmError when data is wrong."""
    vm.run(verified(name, file, *options, seconds=seconds), SECONDS + 2 * seconds)


class Load:
    """fio that goes on in a guest until stop(), reads and writes mixed, each block verified soon after
    it was written. No request may fail.
    """

    def __init__(self, vm, file):
        self._vm = vm
        self._fio = vm.popen(verified('load', file, *FORTH_AND_BACK, '--size=4m',
                                      '--verify_backlog=16', seconds=FOR_EVER))
        vm.wait_until('fio to run', 'pgrep -x fio', 20)
        self.wait_moved(60)

    def _moved(self):
        """Bytes of requests so far. At first there may be two processes, of which one ends."""
        return sum(int(x) for x in self._vm.out(
            'for p in $(pgrep -x fio); do '
            "sed -n 's/^\\(read\\|write\\)_bytes: //p' /proc/$p/io; done 2>/dev/null || :").split())

    def wait_moved(self, limit):
        """From now on data moves, and some of it was verified."""
        def more():
            if not self._fio.running:
                raise VmError(f'fio ended:\n{self._fio.text}')
            return self._moved() >= before + ENOUGH
        before = self._moved()
        self._vm.wait_until('data to move', more, limit)

    def stop(self):
        """It ends, and no request has failed."""
        self._vm.run('pkill -INT -x fio')
        done = self._fio.wait(60, check=False)
        if done.status != STOPPED or not re.search(r'\berr= 0\b', done.out):
            raise VmError(f'fio failed, status {done.status}:\n{done.text}')
