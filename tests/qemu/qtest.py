# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU under the control of a test, without a guest: the qtest protocol gives
access to memory, ports and the clock; QMP adds and removes devices. Python's
standard library only."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile

RAM_SIZE = 128 << 20
RAM_FIRST = 1 << 20         # below: firmware, VGA hole
ANSWER_LIMIT = 30           # seconds for any answer
PIECE = 64 << 10            # bytes of memory written by one command


class QemuError(Exception):
    """QEMU ended or did not answer; carries what it printed."""


class QmpError(Exception):
    """QMP said no."""


class Port:
    """A unix socket that QEMU connects to; text lines both ways."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.listener.settimeout(ANSWER_LIMIT)
        self.conn = None
        self.rest = b''

    def accept(self, proc):
        self.listener.settimeout(0.2)
        for _ in range(ANSWER_LIMIT * 5):
            try:
                self.conn = self.listener.accept()[0]
                self.conn.settimeout(ANSWER_LIMIT)
                return
            except socket.timeout:
                if proc.poll() is not None:
                    break
        raise OSError('no connection')

    def send(self, text):
        self.conn.sendall(text.encode() + b'\n')

    def line(self):
        while b'\n' not in self.rest:
            data = self.conn.recv(1 << 16)
            if not data:
                raise OSError('closed')
            self.rest += data
        line, self.rest = self.rest.split(b'\n', 1)
        return line.decode()

    def close(self):
        for s in (self.conn, self.listener):
            if s:
                s.close()


class Qemu:
    """with Qemu(path, ['-device', ...]) as vm: ..."""

    def __init__(self, binary, args, machine='q35'):
        self.dir = tempfile.mkdtemp(prefix='erdma-qtest-')
        self.next_free = RAM_FIRST
        self.events = []
        self.log = open(os.path.join(self.dir, 'log'), 'w+b')
        self.qtest = Port(os.path.join(self.dir, 'qtest'))
        self.qmp_port = Port(os.path.join(self.dir, 'qmp'))
        env = dict(os.environ, ASAN_OPTIONS='detect_leaks=1:abort_on_error=0',
                   UBSAN_OPTIONS='print_stacktrace=1:halt_on_error=1')
        self.proc = subprocess.Popen(
            [binary, '-nodefaults', '-display', 'none', '-machine', machine + ',accel=qtest',
             '-m', f'{RAM_SIZE >> 20}M', '-qtest', 'unix:' + self.qtest.path,
             '-qtest-log', '/dev/null', '-qmp', 'unix:' + self.qmp_port.path, *args],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=env)
        try:
            self.qtest.accept(self.proc)
            self.qmp_port.accept(self.proc)
            self.qmp_port.line()
            self.qmp('qmp_capabilities')
        except OSError as e:
            self.fail(e)

    def __enter__(self):
        return self

    def __exit__(self, kind, _value, _trace):
        try:
            if self.proc.poll() is None and kind is None:
                self.qmp('quit')        # an orderly end, so that leaks are seen
                self.proc.wait(ANSWER_LIMIT)
        finally:
            if self.proc.poll() is None:
                self.proc.kill()
                self.proc.wait()
            self.qtest.close()
            self.qmp_port.close()
            text = self.output()
            self.log.close()
            shutil.rmtree(self.dir, ignore_errors=True)
        if kind is None and (self.proc.returncode or complaint(text)):
            raise QemuError(f'QEMU ended with status {self.proc.returncode}:\n{text}')

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors='replace')

    def fail(self, why):
        try:
            self.proc.wait(5)
        except subprocess.TimeoutExpired:
            self.proc.kill()
        raise QemuError(f'{why}; QEMU printed:\n{self.output()}') from None

    # -- qtest --------------------------------------------------------------
    def cmd(self, text):
        try:
            self.qtest.send(text)
            while True:
                words = self.qtest.line().split()
                if words[:1] != ['IRQ']:
                    break
        except OSError as e:
            self.fail(f'no answer to "{text[:60]}" ({e})')
        if words[:1] != ['OK']:
            raise QemuError(f'"{text[:60]}": {" ".join(words)}')
        return words[1] if len(words) > 1 else ''

    def read_num(self, addr, size):
        return int(self.cmd(f'read{"_bw_l___q"[size]} {addr:#x}'), 16)

    def write_num(self, addr, value, size):
        self.cmd(f'write{"_bw_l___q"[size]} {addr:#x} {value:#x}')

    def read(self, addr, size):
        return base64.b64decode(self.cmd(f'b64read {addr:#x} {size:#x}'))

    def write(self, addr, data):
        # QEMU looks for the end of a line anew with each KiB of it
        for at in range(0, len(data), PIECE):
            part = data[at:at + PIECE]
            self.cmd(f'b64write {addr + at:#x} {len(part):#x} {base64.b64encode(part).decode()}')

    def fill(self, addr, size, byte):
        self.cmd(f'memset {addr:#x} {size:#x} {byte:#x}')

    def outl(self, port, value):
        self.cmd(f'outl {port:#x} {value:#x}')

    def inl(self, port):
        return int(self.cmd(f'inl {port:#x}'), 16)

    def step(self, ns):
        """Advance the virtual clock."""
        self.cmd(f'clock_step {ns}')

    def alloc(self, size, align=4096):
        """Guest memory, zero."""
        addr = (self.next_free + align - 1) // align * align
        self.next_free = addr + size
        if self.next_free > RAM_SIZE:
            raise MemoryError('guest memory used up')
        self.fill(addr, size, 0)
        return addr

    # -- QMP ----------------------------------------------------------------
    def qmp(self, command, **arguments):
        try:
            self.qmp_port.send(json.dumps({'execute': command, 'arguments': arguments}))
            while True:
                answer = json.loads(self.qmp_port.line())
                if 'event' in answer:
                    self.events.append(answer['event'])
                elif 'error' in answer:
                    raise QmpError(answer['error']['desc'])
                else:
                    return answer['return']
        except OSError as e:
            return self.fail(f'no answer to {command} ({e})')

    def wait_event(self, name):
        try:
            while name not in self.events:
                answer = json.loads(self.qmp_port.line())
                if 'event' in answer:
                    self.events.append(answer['event'])
        except OSError as e:
            self.fail(f'no event {name} ({e})')
        self.events.remove(name)


def complaint(text):
    return 'Sanitizer' in text or 'runtime error' in text


def run_refused(binary, args, machine='q35'):
    """A command line that QEMU must not accept; returns what it printed."""
    out = subprocess.run(
        [binary, '-nodefaults', '-display', 'none', '-machine', machine + ',accel=qtest',
         '-qtest', 'null', '-S', *args],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=ANSWER_LIMIT, check=False)
    text = out.stdout.decode(errors='replace')
    if out.returncode == 0:
        raise AssertionError('accepted: ' + ' '.join(args))
    if out.returncode != 1 or complaint(text):
        raise QemuError(f'status {out.returncode}:\n{text}')
    return text
