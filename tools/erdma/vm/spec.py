# SPDX-License-Identifier: GPL-2.0-or-later
"""What a VM is made of."""
import dataclasses
import os

MAX_VMS = 8


@dataclasses.dataclass(frozen=True)
class VmSpec:
    """One kind of VM. Two VMs of equal specs can stand in for each other.

    cards: number of ERDMA cards, each paired with a virtio-net (0: one virtio-net, no card).
    props: more properties of the erdma device; several strings: of card 1, of card 2.
    mem: MiB. smp: cores.
    qemu: a QEMU that has the device built in; None: the distribution's, with the
        model of the site preloaded.
    kernel: None (the image's), a file, or a folder with bzImage or vmlinux, initrd.img and
        modules (`tools/setup kernel debug`).
    modules: a folder below /erdma of the guest with our modules built for that kernel, at the
        places they have in the checkout; they take their places in the guest.
    root: another squashfs than the image's (`tools/setup root trixie`), or a disk image.
    systemd: that root is a whole system: its service manager starts, and a service of it
        starts /erdma/tools/guest/start-agent.
    private_ram: other processes cannot read this VM's memory.
    shares: (name, folder): a folder of the host, read-only at /name of the guest.
    writable: the same, and the guest may write there.
    qemu_args: passed to QEMU as they are, in front of the devices.
    append: more kernel arguments.
    slow: the kernel is so many times slower; all limits are that much longer.
    icount: the guest's clock counts its instructions, one per ns, whatever the host does meanwhile;
        never with KVM.
    """
    cards: int = 1
    props: tuple = ()
    mem: int = 1024
    smp: int = 2
    qemu: str = None
    kernel: str = None
    modules: str = None
    root: str = None
    systemd: bool = False
    private_ram: bool = False
    shares: tuple = ()
    writable: tuple = ()
    qemu_args: tuple = ()
    append: str = ''
    slow: int = 1
    icount: bool = False
    boot_limit: int = 120
    ip_base: str = '10.77'

    def kernel_files(self, image):
        """(kernel, initrd) to boot with the guest image in folder @image."""
        if not self.kernel:
            return os.path.join(image, 'vmlinux'), os.path.join(image, 'initrd.img')
        if not os.path.isdir(self.kernel):
            return self.kernel, os.path.join(image, 'initrd.img')
        # The first is for a kernel that must set itself up (KASAN).
        files = [os.path.join(self.kernel, f) for f in ('bzImage', 'vmlinux')]
        return (next((f for f in files if os.path.exists(f)), files[0]),
                os.path.join(self.kernel, 'initrd.img'))

    def root_file(self, image):
        """The file that has the root with the guest image in folder @image."""
        return self.root or os.path.join(image, 'root.squashfs')

    def root_drive(self, image):
        """The drive of the root, for QEMU."""
        file = self.root_file(image)
        with open(file, 'rb') as f:
            kind = 'qcow2' if f.read(4) == b'QFI\xfb' else 'raw'
        return f'file={file.replace(",", ",,")},format={kind},if=none,readonly=on,id=root'

    def all_shares(self):
        """The shares, and the modules of another kernel that the root does not have."""
        shares = list(self.shares)
        if self.kernel and os.path.isdir(os.path.join(self.kernel, 'modules')):
            shares.append(('modules', os.path.join(self.kernel, 'modules')))
        return shares

    def card_props(self, card):
        """Properties of card @card (from 0), as a string."""
        return self.props[min(card, len(self.props) - 1)] if self.props else ''
