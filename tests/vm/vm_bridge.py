# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest may ask of its host: tests/vm/guest/host.sh is the other side.

A request is one line, "SEQ COMMAND ARGUMENTS", on the virtio-serial port
erdma.host; the answer is one line, "SEQ ok TEXT" or "SEQ error TEXT".

    qmp N JSON          one QMP command for VM N (0: the one that asks)
    event N NAME        the oldest QMP event of this name since the last question
    kill N              SIGKILL to the QEMU of VM N
    start N             boot VM N again after kill
    state N             running, booting, killed, or the exit status
    barrier NAME COUNT  "go" when COUNT VMs have asked, else "wait"
    set KEY VALUE       remember; get KEY: what was remembered
    run N COMMAND       let the agent of VM N run it; the answer is a number
    status ID           running, or the exit status of that command

No request waits: guests ask again. Everything that grows has a bound.
"""
import json
import re
import threading

MAX_LINE = 1 << 20
MAX_EVENTS = 200
MAX_KEYS = 10000
MAX_STARTS = 1000
QMP_SECONDS = 20


class BridgeError(Exception):
    """Becomes the text behind "error"."""


class Lines:
    """Lines out of a socket, of bounded length."""

    def __init__(self, sock):
        self.sock = sock
        self.rest = b''

    def __iter__(self):
        while True:
            try:
                data = self.sock.recv(65536)
            except OSError:
                return
            if not data:
                return
            *lines, self.rest = (self.rest + data).split(b'\n')
            for line in lines:
                yield line.decode(errors='replace').strip()
            if len(self.rest) > MAX_LINE:
                return


class Qmp:
    """The QMP monitor of one QEMU process, on a connected socket."""

    def __init__(self, sock):
        self.sock = sock
        self.lock = threading.Lock()            # one command at a time
        self.changed = threading.Condition()
        self.events = []
        self.answers = {}
        self.next_id = 0
        self.over = False
        threading.Thread(target=self.read, daemon=True).start()
        try:
            self.execute({'execute': 'qmp_capabilities'}, wait=False)
        except BridgeError:
            pass                                # QEMU ended at once, and says why itself

    def read(self):
        for line in Lines(self.sock):
            try:
                msg = json.loads(line)
            except ValueError:
                continue
            with self.changed:
                if 'event' in msg:
                    self.events.append(msg)
                    del self.events[:-MAX_EVENTS]
                elif 'id' in msg:
                    self.answers[msg['id']] = msg
                self.changed.notify_all()
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def execute(self, command, wait=True):
        with self.lock:
            self.next_id += 1
            number = self.next_id
            try:
                self.sock.sendall(json.dumps(dict(command, id=number)).encode() + b'\n')
            except OSError as e:
                raise BridgeError(f'QEMU is gone: {e}') from e
            if not wait:
                return None
            with self.changed:
                self.changed.wait_for(lambda: number in self.answers or self.over, QMP_SECONDS)
                answer = self.answers.pop(number, None)
                self.answers.clear()            # late ones
        if answer is None:
            raise BridgeError('QEMU is gone' if self.over else
                              f'no answer from QEMU in {QMP_SECONDS} s')
        if 'error' in answer:
            raise BridgeError(answer['error'].get('desc', '?'))
        return answer['return']

    def event(self, name):
        with self.changed:
            for i, e in enumerate(self.events):
                if e['event'] == name:
                    return self.events.pop(i)
        return None


class Bridge:
    """Serves the requests of all VMs of one run. @vms: VM objects of run-vm."""

    def __init__(self, vms):
        self.vms = vms
        self.lock = threading.Lock()
        self.barriers = {}
        self.values = {}
        self.jobs = {}                          # id -> [vm index, life, status]
        self.starts = 0

    # -- one per VM and life ------------------------------------------------
    def serve(self, vm, sock):
        """Requests of one guest, until its port closes."""
        for line in Lines(sock):
            seq, _, request = line.partition(' ')
            if not seq.isdigit():
                continue                        # the end of a line cut short
            try:
                answer = 'ok ' + self.answer(vm, request)
            except BridgeError as e:
                answer = 'error ' + str(e).replace('\n', ' ')
            try:
                sock.sendall(f'{seq} {answer}\n'.encode())
            except OSError:
                return

    def serve_agent(self, vm, sock):
        """"ID STATUS" of the commands that the agent of @vm has run."""
        life = vm.life
        for line in Lines(sock):
            m = re.fullmatch(r'(\d{1,9}) (\d{1,3})', line)
            if m:
                with self.lock:
                    job = self.jobs.get(int(m[1]))
                    if job and job[:2] == [vm.index, life]:
                        job[2] = int(m[2])

    # -- requests -----------------------------------------------------------
    def answer(self, vm, request):
        word, _, rest = request.partition(' ')
        handler = getattr(self, 'do_' + word, None) if word.isalpha() else None
        if handler is None:
            raise BridgeError(f'no such request: {word}')
        return handler(vm, rest)

    def vm(self, asking, number):
        if not number.isdigit() or int(number) > len(self.vms):
            raise BridgeError(f'no VM {number}')
        return self.vms[int(number) - 1] if int(number) else asking

    def do_qmp(self, vm, rest):
        number, _, text = rest.partition(' ')
        try:
            command = json.loads(text)
        except ValueError as e:
            raise BridgeError(f'not JSON: {e}') from e
        if not isinstance(command, dict):
            raise BridgeError('a QMP command is an object')
        return json.dumps(self.vm(vm, number).qmp.execute(command))

    def do_event(self, vm, rest):
        number, _, name = rest.partition(' ')
        event = self.vm(vm, number).qmp.event(name)
        return 'none' if event is None else json.dumps(event)

    def do_kill(self, vm, rest):
        target = self.vm(vm, rest)
        target.kill()
        with self.lock:                         # it has no agent any more
            self.values.pop(f'agent{target.index + 1}', None)
        return 'killed'

    def do_start(self, vm, rest):
        with self.lock:
            self.starts += 1
            if self.starts > MAX_STARTS:
                raise BridgeError(f'more than {MAX_STARTS} starts')
            target = self.vm(vm, rest)
            if target.state() != 'killed':
                raise BridgeError(f'VM {rest} is {target.state()}, not killed')
            target.restart()
        return 'started'

    def do_state(self, vm, rest):
        return self.vm(vm, rest).state()

    def do_barrier(self, vm, rest):
        name, _, count = rest.partition(' ')
        if not re.fullmatch(r'[\w.-]{1,64}', name) or not count.isdigit():
            raise BridgeError('barrier NAME COUNT')
        with self.lock:
            if name not in self.barriers and len(self.barriers) >= MAX_KEYS:
                raise BridgeError('too many barriers')
            who = self.barriers.setdefault(name, set())
            who.add(vm.index)
            return 'go' if len(who) >= int(count) else 'wait'

    def do_set(self, _vm, rest):
        key, _, value = rest.partition(' ')
        with self.lock:
            if key not in self.values and len(self.values) >= MAX_KEYS:
                raise BridgeError('too many keys')
            self.values[key] = value
        return ''

    def do_get(self, _vm, rest):
        with self.lock:
            if rest not in self.values:
                raise BridgeError(f'nobody has set {rest}')
            return self.values[rest]

    def do_run(self, vm, rest):
        number, _, command = rest.partition(' ')
        target = self.vm(vm, number)
        with self.lock:
            if len(self.jobs) >= MAX_KEYS:
                raise BridgeError('too many commands')
            job = len(self.jobs) + 1
            self.jobs[job] = [target.index, target.life, None]
        try:
            target.agent.sendall(f'{job} {command}\n'.encode())
        except (OSError, AttributeError) as e:
            raise BridgeError(f'VM {number} has no agent: {e}') from e
        return str(job)

    def do_status(self, _vm, rest):
        with self.lock:
            job = self.jobs.get(int(rest)) if rest.isdigit() else None
        if job is None:
            raise BridgeError(f'no command {rest}')
        index, life, status = job
        if status is not None:
            return str(status)
        target = self.vms[index]
        if target.life != life or target.state() == 'killed':
            return '137'
        return 'running'
