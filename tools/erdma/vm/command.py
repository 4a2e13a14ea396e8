# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of QEMU for one VM."""
import os


def _netdev(vm, card):
    """What is behind an interface: those of the same number in the other VMs, or nobody."""
    me, count = vm.index - 1, len(vm.hosts.specs)
    if count == 1:
        # Link up, nobody there: all traffic stays in the guest.
        return f'hubport,id=n{card},hubid={card}'
    remote = f'net{1 - me}' if count == 2 else f'switch{me}'
    return (f'dgram,id=n{card},local.type=unix,local.path={vm.hosts.path(f"net{me}-{card}")},'
            f'remote.type=unix,remote.path={vm.hosts.path(f"{remote}-{card}")}')


def _network(vm):
    """A virtio-net per card; the card finds its partner by the MAC."""
    cmd, spec, count = [], vm.spec, len(vm.hosts.specs)
    for card in range(1, max(1, spec.cards) + 1):
        cmd += ['-netdev', _netdev(vm, card),
                '-device', f'virtio-net-pci,netdev=n{card},mac={vm.mac(card)},romfile=']
    for card in range(1, spec.cards + 1):
        props = spec.card_props(card - 1)
        more = ',' + props if props else ''
        if count > 1 and ',fabric=' not in more:
            more += ',fabric=' + vm.hosts.path('fabric')
        cmd += ['-device', f'erdma,id=card{card},mac={vm.mac(card)}' + more]
    return cmd


def _shares(vm):
    """Folders of the host over 9p."""
    cmd = []
    shares = [('erdma', vm.hosts.tree, ',readonly=on'), ('results', vm.dir, '')]
    shares += [(name, os.path.abspath(path), ',readonly=on') for name, path in vm.spec.all_shares()]
    shares += [(name, os.path.abspath(path), '') for name, path in vm.spec.writable]
    for name, path, more in shares:
        cmd += ['-fsdev', f'local,id={name},path={path.replace(",", ",,")},security_model=none,'
                f'multidevs=remap{more}',
                '-device', f'virtio-9p-pci,fsdev={name},mount_tag={name}']
    return cmd


def open_memory(spec):
    """A file for the guest's memory, as a descriptor; None: the memory is private.

    The card can seal it, so that peers of its fabric may read it and not write it; QEMU's own
    memfd backend never allows that.
    """
    if spec.private_ram:
        return None
    fd = os.memfd_create('erdma-guest-ram', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, spec.mem << 20)
    return fd


def _memory(spec, fd):
    kind = 'ram' if fd is None else f'file,mem-path=/proc/self/fd/{fd},share=on'
    return ['-m', str(spec.mem), '-object', f'memory-backend-{kind},id=mem,size={spec.mem}M']


#: TCG runs "rep movsb" byte by byte, and vectors of 32 bytes by calls: a guest that believes in
#: these features copies and clears pages several times slower. Page tables have four levels.
EMULATED_CPU = 'max,-erms,-avx,-avx2,-la57'
#: Where instructions are counted, programs are to execute those that they execute elsewhere.
COUNTED_CPU = 'max,-la57'


def cpus(spec):
    """Value of -smp. With one possible CPU TCG makes plain loads and stores of atomic
    instructions, and the atomics of a peer lose updates.
    """
    return f'{spec.smp},maxcpus=2' if spec.smp == 1 else str(spec.smp)


def processor(spec, mode):
    """-accel and -cpu, and the clock if the spec wants one of its own."""
    if spec.icount:
        return '-accel', 'tcg,thread=single', '-icount', 'shift=0', '-cpu', COUNTED_CPU
    if mode == 'kvm':
        return '-accel', 'kvm', '-cpu', 'host'
    return '-accel', 'tcg,thread=multi', '-cpu', EMULATED_CPU


def qemu_command(vm, ports, memory):
    """argv for @vm; @ports: descriptors of the sockets "agent" and "qmp"; @memory: of its memory."""
    spec, image = vm.spec, vm.hosts.image
    mode = vm.hosts.accelerator
    kernel, initrd = spec.kernel_files(image)
    append = ('console=ttyS0 loglevel=7 panic=-1 oops=panic mitigations=off '
              'random.trust_cpu=on watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 '
              'no_timer_check ' + ('tsc=reliable ' if spec.icount else '') + spec.append)
    cmd = [spec.qemu or 'qemu-system-x86_64', '-nodefaults', '-no-user-config', '-display', 'none',
           '-name', f'{vm.hosts.name}-{vm.index}', '-no-reboot',
           '-machine', 'q35,memory-backend=mem',
           *processor(spec, mode), '-smp', cpus(spec)]
    cmd += _memory(spec, memory)
    cmd += ['-kernel', kernel, '-initrd', initrd, '-append', append,
            '-drive', spec.root_drive(image),
            '-device', 'virtio-blk-pci,drive=root', '-device', 'virtio-rng-pci',
            '-serial', f'file:{vm.console}', '-device', 'virtio-serial-pci',
            '-chardev', f'socket,id=qmp,fd={ports["qmp"]}', '-mon', 'chardev=qmp,mode=control',
            '-chardev', f'socket,id=agent,fd={ports["agent"]}',
            '-device', 'virtserialport,chardev=agent,name=erdma.agent']
    return cmd + _shares(vm) + list(spec.qemu_args) + _network(vm)   # a card may go behind a port
