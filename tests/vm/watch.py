#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a VM program and look at its QEMU processes from outside meanwhile.

    watch.py OUT.json RUN-VM-ARGUMENT...

Output and exit status are those of run-vm. The guest asks by lines it prints:

    # mark NAME               what each QEMU process uses now, into OUT.json
    # profile NAME SECONDS    perf record of all of them, in the background; the
                              report goes to NAME.perf.txt beside OUT.json

A mark holds, per VM: private memory (RssAnon: guest RAM is shared memory and
does not count), CPU seconds so far, threads.
"""
import json
import os
import re
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARK = re.compile(r'# mark (\S+)')
PROFILE = re.compile(r'# profile ([\w-]+) (\d{1,3})')


def qemu_processes(parent):
    """The QEMU processes of this run-vm, in the order of their start."""
    found = []
    for name in os.listdir('/proc'):
        if not name.isdigit():
            continue
        try:
            with open(f'/proc/{name}/stat', encoding='ascii', errors='replace') as f:
                text = f.read()
        except OSError:
            continue
        comm = text[text.index('(') + 1:text.rindex(')')]
        fields = text[text.rindex(')') + 2:].split()
        if int(fields[1]) == parent and comm.startswith('qemu'):
            found.append((int(fields[19]), int(name)))      # start time
    return [pid for _, pid in sorted(found)]


def usage(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as f:
        text = f.read()
    fields = text[text.rindex(')') + 2:].split()
    ticks = int(fields[11]) + int(fields[12])
    with open(f'/proc/{pid}/status', encoding='ascii', errors='replace') as f:
        status = dict(line.split(':', 1) for line in f if ':' in line)
    return {'cpu_s': ticks / os.sysconf('SC_CLK_TCK'),
            'rss_anon_kb': int(status['RssAnon'].split()[0]),
            'threads': int(status['Threads'])}


def mark(name, parent):
    vms = []
    for pid in qemu_processes(parent):
        try:
            vms.append(usage(pid))
        except OSError:
            pass                    # ended just now
    return {'mark': name, 'time': time.monotonic(), 'vms': vms}


def profile(name, seconds, parent, folder):
    """perf is used where it is there and allowed; its absence is told, not fatal."""
    pids = ','.join(str(p) for p in qemu_processes(parent))
    data = os.path.join(folder, name + '.perf.data')
    report = os.path.join(folder, name + '.perf.txt')
    try:
        subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '499', '-p', pids,
                        '-o', data, '--', 'sleep', str(seconds)],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=seconds + 60)
        with open(report, 'w', encoding='utf-8') as f:
            subprocess.run(['perf', 'report', '--stdio', '-i', data, '--sort', 'dso,symbol'],
                           check=True, stdin=subprocess.DEVNULL, stdout=f,
                           stderr=subprocess.DEVNULL, timeout=120)
    except (OSError, subprocess.SubprocessError) as e:
        with open(report, 'w', encoding='utf-8') as f:
            f.write(f'# no profile: {e}\n')
    if os.path.exists(data):
        os.unlink(data)


def main():
    out = os.path.abspath(sys.argv[1])
    folder = os.path.dirname(out)
    os.makedirs(folder, exist_ok=True)
    marks, threads = [], []
    with subprocess.Popen([os.path.join(TOP, 'tests/vm/run-vm')] + sys.argv[2:],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as run:
        for raw in run.stdout:
            sys.stdout.buffer.write(raw)
            sys.stdout.buffer.flush()
            text = raw.decode(errors='replace')
            if m := MARK.search(text):
                marks.append(mark(m[1], run.pid))
            elif m := PROFILE.search(text):
                t = threading.Thread(target=profile, args=(m[1], int(m[2]), run.pid, folder))
                t.start()
                threads.append(t)
    for t in threads:
        t.join()
    with open(out, 'w', encoding='ascii') as f:
        json.dump(marks, f, indent=1)
        f.write('\n')
    return run.returncode


if __name__ == '__main__':
    sys.exit(main())
