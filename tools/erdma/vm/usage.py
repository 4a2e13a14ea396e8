# SPDX-License-Identifier: GPL-2.0-or-later
"""What a QEMU process uses, seen from the host.

    before = usage(vm)
    ...
    cores = usage(vm).cores_since(before)

    with Profile([a, b], 'build/write.perf.txt'):
        ...
"""
import dataclasses
import os
import signal
import subprocess
import time

from .errors import VmError

TICKS = os.sysconf('SC_CLK_TCK')
END_SECONDS = 60        # for perf to write what it has
REPORT_SECONDS = 120


@dataclasses.dataclass(frozen=True)
class Usage:
    """One process at one time.

    time: of the monotonic clock. cpu_s: CPU seconds until now, of all threads. rss_anon_kb:
    private memory; the RAM of a guest is shared memory and does not count.
    """
    time: float
    cpu_s: float
    rss_anon_kb: int
    threads: int

    def cores_since(self, before):
        """Cores that it used since @before."""
        return (self.cpu_s - before.cpu_s) / (self.time - before.time)


def usage_of(pid):
    """The Usage of a process; raises OSError when it is gone."""
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as f:
        text = f.read()
    fields = text[text.rindex(')') + 2:].split()
    with open(f'/proc/{pid}/status', encoding='ascii', errors='replace') as f:
        status = dict(line.split(':', 1) for line in f if ':' in line)
    return Usage(time.monotonic(), (int(fields[11]) + int(fields[12])) / TICKS,
                 int(status['RssAnon'].split()[0]), int(status['Threads']))


def usage(vm):
    """The Usage of a VM's QEMU process. Raises VmError."""
    if not vm.running:
        raise VmError(f'{vm.tag}the VM is not running')
    return usage_of(vm.proc.pid)


class Profile:
    """perf record of the QEMU processes of some VMs, from start() to stop(); a context.

    report: the file that gets perf's report; where perf is missing or not allowed it says so,
    in a line that begins with "# no profile". rate: samples per second.
    """

    def __init__(self, vms, report, rate=499):
        self._pids = ','.join(str(vm.proc.pid) for vm in vms)
        self._report, self._data = report, report + '.data'
        self._rate = rate
        self._perf = None
        self._problem = ''

    def start(self):
        """Begin to record."""
        try:
            self._perf = subprocess.Popen(
                ['perf', 'record', '-q', '-e', 'cpu-clock', '-F', str(self._rate),
                 '-p', self._pids, '-o', self._data], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except OSError as e:
            self._problem = str(e)
        return self

    def stop(self):
        """End it and write the report. Returns whether there is one."""
        try:
            if self._perf:
                self._end()
        except (OSError, subprocess.SubprocessError) as e:
            self._problem = str(e)
        if self._problem:
            with open(self._report, 'w', encoding='utf-8') as f:
                f.write(f'# no profile: {self._problem}\n')
        if os.path.exists(self._data):
            os.unlink(self._data)
        return not self._problem

    def _end(self):
        self._perf.send_signal(signal.SIGINT)
        try:
            self._perf.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._perf.kill()
            self._perf.wait()
            raise
        with open(self._report, 'w', encoding='utf-8') as f:
            subprocess.run(['perf', 'report', '--stdio', '-i', self._data, '--sort', 'dso,symbol'],
                           check=True, stdin=subprocess.DEVNULL, stdout=f,
                           stderr=subprocess.DEVNULL, timeout=REPORT_SECONDS)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
