# SPDX-License-Identifier: GPL-2.0-or-later
"""erdma-vm: VMs with the card, for who has none. The manual page is erdma-vm(1)."""
import argparse
import json
import os
import shutil
import signal
import sys
import time

from . import guest, terminal, vm_client, vm_server, vm_state
from .step import Failure, report, say
from .vm import Hosts, Timeout, VmError, VmSpec
from .vm.spec import MAX_VMS

EXIT_FAILED, EXIT_USAGE, EXIT_LATE, EXIT_NO_VM, EXIT_INTERRUPTED = 1, 2, 8, 125, 130
#: Folder of the guests that --share is.
SHARE = 'share'
#: MB with which a guest boots.
LEAST = 128
#: Of numbers that QEMU, or who waits, may find too large.
MOST = 1 << 20
#: For what is asked of VMs that live.
DOWN_SECONDS = 60


# ---- command line -----------------------------------------------------------

def folder(text) -> str:
    """A folder of the host."""
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f'"{text}" is not a folder')
    return os.path.abspath(text)


def file(text) -> str:
    """A file of the host."""
    if not os.path.isfile(text):
        raise argparse.ArgumentTypeError(f'"{text}" is not a file')
    return os.path.abspath(text)


def kernel(text) -> str:
    """A kernel: a file, or a folder with what a boot needs of it."""
    if not os.path.isdir(text):
        return file(text)
    has = set(os.listdir(text))
    for files in ('bzImage', 'vmlinux'), ('initrd.img',):
        if not has.intersection(files):
            raise argparse.ArgumentTypeError(f'"{text}" has no ' + ' or '.join(files))
    return os.path.abspath(text)


def vm_name(text) -> str:
    """A name of VMs."""
    if not vm_state.NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f'"{text}" is no name: letters, digits, _ and -, at most 32')
    return text


def add_up(a) -> None:
    """Options of up."""
    a('count', type=int, choices=range(1, MAX_VMS + 1), metavar='N', nargs='?', default=2,
      help=f'VMs, at most {MAX_VMS} (default 2)')
    a('--mem', type=int, default=1024, metavar='MB', help='memory of each (default 1024)')
    a('--smp', type=int, default=2, metavar='N', help='processors of each (default 2)')
    a('--cards', type=int, default=1, choices=(0, 1, 2), metavar='N',
      help='ERDMA cards of each (default 1)')
    a('--share', type=folder, metavar='DIR', help=f'a folder of the host: /{SHARE} in all of '
      'them, writable')
    a('--image', type=file, metavar='FILE', help="a disk image (raw or qcow2) with a root of "
      "one's own on ext4 or squashfs; it is not changed")
    a('--kernel', type=kernel, metavar='PATH', help='another kernel: a file, or a folder with '
      'bzImage or vmlinux, initrd.img and modules')
    a('--append', default='', metavar='ARGS', help='more kernel arguments')
    a('--driver', choices=('erdma', 'rxe', 'none'), default='erdma',
      help='RDMA driver to load (default erdma)')
    a('--limit', type=int, default=300, metavar='SEC', help='for booting (default 300)')


def add_number(a) -> None:
    """Which VM."""
    a('vm', type=int, metavar='VM', help='its number, from 1')


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog='erdma-vm', description='VMs with the Elastic RDMA Adapter,'
                                  ' joined by a network, without root and without the hardware.')
    top.add_argument('--version', action='store_true', help='print the version')
    sub = top.add_subparsers(dest='command', metavar='COMMAND')
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument('--name', type=vm_name, default=argparse.SUPPRESS, metavar='NET',
                        help='of these VMs (default $ERDMA_VM, or "default")')
    facts = argparse.ArgumentParser(add_help=False)
    facts.add_argument('-j', '--json', action='store_true', help='one JSON document on stdout')

    def add(name, text, *parents):
        return sub.add_parser(name, help=text, description=text, parents=parents).add_argument
    add_up(add('up', 'boot VMs', common, facts))
    add('status', 'what is up', common, facts)
    a = add('ssh', 'a shell in a VM on this terminal, or a program', common)
    add_number(a)
    a('program', nargs=argparse.REMAINDER, metavar='PROGRAM')
    a = add('run', 'run a program in a VM; its exit status is that of erdma-vm', common)
    a('-i', '--stdin', action='store_true', help='standard input is read to its end and given '
      'to the program')
    add_number(a)
    a('program', nargs=argparse.REMAINDER, metavar='PROGRAM')
    a = add('fault', 'have a card do something wrong', common, facts)
    a('--card', type=int, default=1, metavar='N', help='which card (default 1)')
    add_number(a)
    a('line', nargs='?', metavar='FAULT', help='"clear" for none; nothing: those in force')
    a = add('log', "a VM's console, from its first line", common)
    a('--qemu', action='store_true', help='what QEMU printed')
    a('-f', '--follow', action='store_true', help='go on as it grows')
    add_number(a)
    a = add('down', 'end VMs', common, facts)
    a('--all', action='store_true', help='those of all names')
    a = add('image', 'make the guest image, which up would make', facts)
    a('--update', action='store_true', help='anew, of the packages that the archive has now')
    return top


def memory() -> int:
    """MB of this machine. A guest of more would take all of it, by its lists of pages alone."""
    return os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') >> 20


def options(argv=None) -> argparse.Namespace:
    """The options, checked."""
    p = parser()
    args = p.parse_args(argv)
    if args.version:
        return args
    if not args.command:
        p.error('which COMMAND?')
    args.named = hasattr(args, 'name')
    if not args.named:
        args.name = os.environ.get('ERDMA_VM', 'default')
        args.named = 'ERDMA_VM' in os.environ
        if not vm_state.NAME.fullmatch(args.name):
            p.error(f'ERDMA_VM: "{args.name}" is no name')
    if getattr(args, 'program', [])[:1] == ['--']:
        args.program = args.program[1:]
    if args.command == 'run' and not args.program:
        p.error('which PROGRAM?')
    if args.command == 'ssh' and not terminal.is_there():
        p.error('ssh needs a terminal on stdin and stdout; "run" does not')
    for name, least, most in (('mem', LEAST, memory()), ('smp', 1, MOST), ('limit', 1, MOST)):
        if not least <= getattr(args, name, least) <= most:
            p.error(f'--{name} must be {least} to {most}')
    return args


# ---- output -----------------------------------------------------------------

def document(word, **fields) -> str:
    """A JSON document."""
    return json.dumps({'schema': f'erdma-vm.{word}/1', **fields}, indent=1)


def duration(seconds) -> str:
    """For people."""
    return f'{seconds} s' if seconds < 120 else f'{seconds // 60} min'


def table(facts) -> str:
    """What is known of VMs of one name."""
    lines = [f'{facts["name"]}: {len(facts["vms"])} VMs, {facts["accelerator"]}, up for '
             f'{duration(facts["seconds"])}; logs in {facts["folder"]}']
    lines += [f'  {x["host"]} is {x["guest"]} in all of them' for x in facts['shares']]
    lines.append('  VM  STATE     ADDRESS      DEVICE    FAULTS  PID')
    for vm in facts['vms']:
        for card in vm['cards'] or [vm]:
            lines.append(f'  {vm["vm"]:<3} {vm["state"]:<9} {card["address"]:<12} '
                         f'{card["device"] or "-":<9} {len(card.get("faults", ())):<7} '
                         f'{vm["pid"]}')
    return '\n'.join(lines)


def write(which, data) -> None:
    """What a program printed, to our stdout or stderr."""
    stream = (sys.stdout, sys.stderr)[which]
    stream.buffer.write(data)
    stream.flush()


# ---- commands ---------------------------------------------------------------

def check_driver(args, image) -> None:
    """Failure if the driver, built for the image's kernel, has no place on that of --kernel."""
    modules = os.path.join(args.kernel or '', 'modules')
    if args.driver == 'erdma' and args.cards and args.kernel and os.path.isdir(modules):
        release = guest.release(image)
        if release not in os.listdir(modules):
            raise Failure(f'the driver is built for Linux {release}, of which {modules} has nothing',
                          'up with --driver none, or rxe')


def kernel_fields(args, image) -> dict:
    """The kernel, as fields of VmSpec. A root of the user's has no modules of it."""
    if args.image and args.kernel and os.path.isfile(args.kernel):
        return {'kernel': args.kernel, 'shares': (('modules', os.path.join(image, 'modules')),)}
    return {'kernel': args.kernel or (image if args.image else None)}


def cmd_up(args, place) -> int:
    """Boot VMs."""
    root = vm_state.make_root()
    if vm_state.is_up(args.name):
        raise Failure(f'VMs named "{args.name}" are up',
                      f'erdma-vm down --name {args.name}, or up with another --name')
    vm_state.folder(args.name)
    ready = guest.prepare(place)
    check_driver(args, ready[0])
    spec = VmSpec(mem=args.mem, smp=args.smp, cards=args.cards, root=args.image,
                  append=args.append, boot_limit=args.limit, **kernel_fields(args, ready[0]),
                  writable=((SHARE, args.share),) if args.share else ())
    hosts = Hosts(guest.site(place, root, ready), args.name, spec, args.count)
    logs = f'{hosts.dir}.failed'
    shutil.rmtree(logs, ignore_errors=True)     # of another time
    say(f'Booting {args.count} VMs.')
    try:
        facts = vm_server.start(hosts, args.driver)
    except VmError as e:
        raise Failure(str(e), f'logs are in {logs}' if os.path.isdir(logs) else '') from e
    print(document('status', networks=[facts]) if args.json else table(facts))
    return 0


def cmd_status(args, _place) -> int:
    """What is up."""
    names = [args.name] if args.named else vm_state.names()
    found = [vm_client.ask(name, do='status') for name in names]
    for facts in found:
        facts.pop('status')
    if args.json:
        print(document('status', networks=found))
    else:
        print('\n'.join(table(x) for x in found) or 'no VMs are up')
    return 0


def facts_of(args) -> dict:
    """status of the VMs that the command is for, but what they must be asked for: one that
    hangs is in nobody's way. Absent if there are not so many."""
    facts = vm_client.ask(args.name, do='status', brief=True)
    if not 1 <= args.vm <= len(facts['vms']):
        raise vm_state.Absent(f'no VM {args.vm} of "{args.name}"; there are '
                              f'1 to {len(facts["vms"])}', 'erdma-vm status')
    return facts


def start_folder(facts) -> str:
    """Where programs begin."""
    return facts['shares'][0]['guest'] if facts['shares'] else '/root'


def cmd_ssh(args, _place) -> int:
    """A shell."""
    facts = facts_of(args)
    vm = vm_client.Guest(args.name, args.vm, facts['folder'])
    program = args.program or ['bash', '-l']
    return terminal.run(vm, ['env', '-C', start_folder(facts), *program], {'PS1': r'\h:\w\$ '})


def cmd_run(args, _place) -> int:
    """A program."""
    fields = {'vm': args.vm, 'argv': args.program, 'cwd': start_folder(facts_of(args))}
    if args.stdin:
        fields['input'] = vm_client.encoded(sys.stdin.buffer.read())
    try:
        return vm_client.run(args.name, write, **fields)
    except VmError as e:
        say(f'erdma-vm: {e}')
        return EXIT_NO_VM


def cmd_fault(args, _place) -> int:
    """Faults of a card."""
    facts_of(args)
    answer = vm_client.ask(args.name, do='fault', vm=args.vm, card=args.card, line=args.line)
    if args.json:
        print(document('fault', vm=args.vm, card=args.card, faults=answer['faults']))
    elif not args.line:
        for x in answer['faults']:
            print('  '.join(f'{k}={v}' for k, v in x.items()))
    return 0


def cmd_log(args, _place) -> int:
    """A log."""
    facts = facts_of(args)
    console = facts['vms'][args.vm - 1]['log']
    path = os.path.join(os.path.dirname(console), 'qemu.log') if args.qemu else console
    with open(path, 'rb') as f:
        while True:
            data = f.read(65536)
            if data:
                write(0, data)
            elif not args.follow or not vm_state.is_up(args.name):
                return 0
            else:
                time.sleep(0.2)


def end(name) -> None:
    """End the VMs of one name."""
    request = vm_client.Request(name, do='down')
    try:
        request.last()
        if not request.wait_closed(DOWN_SECONDS):
            raise Timeout(f'the VMs named "{name}" did not end in {DOWN_SECONDS} s')
    finally:
        request.close()


def cmd_down(args, _place) -> int:
    """The end."""
    names = vm_state.names() if args.all else [args.name]
    for name in names:
        end(name)
    vm_state.tidy()
    if args.json:
        print(document('down', names=names))
    return 0


def cmd_image(args, place) -> int:
    """The image."""
    if args.update:
        guest.update()
    image, tree = guest.prepare(place)
    release = guest.release(image)
    if args.json:
        print(document('image', image=image, guest=tree, kernel=release))
    else:
        print(f'{image} (Linux {release}), {tree}')
    return 0


COMMANDS = {'up': cmd_up, 'status': cmd_status, 'ssh': cmd_ssh, 'run': cmd_run,
            'fault': cmd_fault, 'log': cmd_log, 'down': cmd_down, 'image': cmd_image}


# ---- errors -----------------------------------------------------------------

def failed(args, error) -> int:
    """Say why; returns the exit status."""
    if isinstance(error, VmError):
        error, status = Failure(str(error)), EXIT_LATE if isinstance(error, Timeout) else EXIT_FAILED
    else:
        status = error.status
    if getattr(args, 'json', False):
        print(document('error', error={'message': error.message, 'hint': error.hint,
                                       'status': status}))
    report('erdma-vm', error)
    return status


def main(place, argv=None) -> int:
    """Run one command with what is in PLACE; returns the exit status."""
    # What makes images is there, and not in the PATH of ordinary users.
    os.environ['PATH'] = os.environ.get('PATH', os.defpath) + ':/usr/sbin:/sbin'
    args = options(argv)
    if args.version:
        print(f'erdma-vm {place.version()}')
        return 0
    try:
        return COMMANDS[args.command](args, place)
    except (Failure, VmError) as e:
        return failed(args, e)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        say('erdma-vm: interrupted')
        return EXIT_INTERRUPTED
