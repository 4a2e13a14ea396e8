# SPDX-License-Identifier: GPL-2.0-or-later
"""fio in a guest: direct I/O in which what comes back is verified."""
SECONDS = 200           # limit of a run without a time of its own


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
