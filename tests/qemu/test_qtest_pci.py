# SPDX-License-Identifier: GPL-2.0-or-later
"""The PCI function: identity, BARs, capabilities, properties, life."""
import pytest

import qtest_card as hw
from qtest_card import Card
from qtest import Qemu, run_refused

pytestmark = [pytest.mark.group('model'), pytest.mark.limit(900)]

MAC = '00:16:3e:12:34:56'
DEVICE = ['-device', f'erdma,id=card,addr=3,mac={MAC}']


def device(props):
    return ['-device', f'erdma,id=card,addr=3,mac={MAC},{props}']


NATIVE_HOTPLUG = ['-global', 'ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off']


def ports_args(*slots):
    """Root ports; what is behind them is not set up yet"""
    args = list(NATIVE_HOTPLUG)
    for n in slots:
        args += ['-device', f'pcie-root-port,id=rp{n},slot={n},chassis={n},addr={n}']
    return args


class RootPort(Card):
    """A root port of ports_args(), with bus number = slot number"""
    def __init__(self, vm, slot):
        super().__init__(vm, slot)
        self.slot = slot
        self.set_up()

    def set_up(self):
        low = 0xe000 + (self.slot << 10)        # 64 MiB of memory window for each
        self.cfg_write(0x18, self.slot << 8 | self.slot << 16)
        self.cfg_write(0x20, (low + 0x3f0) << 16 | low)
        self.cfg_write(hw.PCI_COMMAND, 6)
        self.slot_control = self.cap(hw.CAP_PCIE) + 0x18
        self.cfg_write(self.slot_control, 0x100)    # powered, indicator on

    def card(self):
        return Card(self.vm, slot=0, bus=self.slot, number=self.slot)

    def plug(self, mac=MAC):
        self.vm.qmp('device_add', driver='erdma', id=f'hot{self.slot}', bus=f'rp{self.slot}', mac=mac)
        self.set_up()
        return self.card()

    def power_off(self):
        """What a guest does at the end of a removal"""
        self.cfg_write(self.slot_control, POWER_OFF)


POWER_OFF = 0x700               # controller and indicator off
ECAM = 0xb0000000


def ecam(vm, slot, offset):
    """Address of a register in q35's window of configuration space, bus 0"""
    vm.outl(0xcf8, 0x80000060)
    vm.outl(0xcfc, ECAM | 1)
    return ECAM + (slot << 15) + offset


def bar_size(card, offset):
    card.cfg_write(offset, 0xffffffff)
    mask = card.cfg_read(offset)
    card.cfg_write(offset, 0)
    return (~(mask & ~0xf) & 0xffffffff) + 1, mask & 0xf


def test_identity_and_resources(qemu_asan):
    """1ded:107f, class 0x028000, exactly BAR0 and BAR2, no ROM (1.1, 1.2)"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm)
        assert card.cfg_read(0) == hw.VENDOR_DEVICE
        assert card.cfg_read(8) >> 8 == 0x028000
        assert (card.cfg_read(0x0c) >> 16) & 0x7f == 0          # endpoint
        assert bar_size(card, hw.PCI_BAR0) == (16 << 20, 0x4)   # 64-bit memory
        assert bar_size(card, hw.PCI_BAR2) == (4096, 0x0)
        for offset in (0x1c, 0x20, 0x24, hw.PCI_ROM):
            card.cfg_write(offset, 0xffffffff)
            assert card.cfg_read(offset) == 0, f'resource at {offset:#x}'
        assert (card.cfg_read(0x3c) >> 8) & 0xff == 0           # no INTx pin


def test_trap_32_exactly_bar0_and_bar2_and_no_option_rom(qemu_asan):
    """1.2: the driver counts all resources, the ROM and those of SR-IOV, too"""
    for props in ('vectors=2', 'bar0-size=512K,flags=0xe0', 'bar0-size=256M'):
        with Qemu(qemu_asan, device(props)) as vm:
            card = Card(vm)
            resources = set()
            for number, offset in enumerate((0x10, 0x14, 0x18, 0x1c, 0x20, 0x24, hw.PCI_ROM)):
                if offset != 0x14 and bar_size(card, offset)[0] != 1 << 32:
                    resources.add(number)
            assert resources == {0, 2}, f'{props}: {resources}'
            assert bar_size(card, 0x10)[1] & 6 == 4         # 0x14 is the upper half of BAR0
            # no SR-IOV: extended capabilities are seen through ECAM only
            assert vm.read_num(ecam(vm, 3, 0x100), 4) in (0, 0xffffffff)


def test_trap_34_mac_registers_are_that_of_the_network_interface(qemu_asan):
    """12.2: the driver pairs by them; not to be written, the same after every reset"""
    for mac, high, low in (('52:54:00:77:00:01', 0x5254, 0x00770001),
                           ('00:16:3e:ff:fe:fd', 0x0016, 0x3efffefd),
                           ('fe:00:00:00:00:00', 0xfe00, 0x00000000)):
        with Qemu(qemu_asan, ['-netdev', 'user,id=n', '-device', f'virtio-net-pci,netdev=n,addr=5,mac={mac}',
                           '-device', f'erdma,addr=3,mac={mac}']) as vm:
            card = Card(vm).enable()
            for again in (lambda: None, card.bring_up, lambda: card.set(hw.CTRL, hw.RESET),
                          lambda: card.set(hw.MAC_LO, 0), lambda: card.set(hw.MAC_HI, 0xffff)):
                again()
                assert (card.reg(hw.MAC_HI), card.reg(hw.MAC_LO)) == (high, low), mac
    assert "'mac' is missing" in run_refused(qemu_asan, ['-device', 'erdma'])


def test_capabilities(qemu_asan):
    """MSI-X with 32 vectors in BAR2, PCIe with FLR, power management, no SR-IOV"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm)
        msix = card.cap(hw.CAP_MSIX)
        assert (card.cfg_read(msix) >> 16) & 0x7ff == 31
        assert card.cfg_read(msix + 4) & 7 == 2 and card.cfg_read(msix + 8) & 7 == 2
        pcie = card.cap(hw.CAP_PCIE)
        assert (card.cfg_read(pcie) >> 20) & 0xf == 9           # RC integrated endpoint
        assert card.cfg_read(pcie + 4) & 1 << 28                # FLR
        assert card.cap(hw.CAP_PM)


def test_conventional_bus(qemu_asan):
    """Works on machine "pc", which has no PCI Express"""
    with Qemu(qemu_asan, DEVICE, machine='pc') as vm:
        card = Card(vm).enable().bring_up()
        card.must(hw.COMMON, hw.QUERY_FW)


def test_properties_reach_the_card(qemu_asan):
    """mac, version, grp-num, vectors, bar0-size show where the guest looks"""
    with Qemu(qemu_asan, device('version=0x01000000,grp-num=24,vectors=3,bar0-size=512K,flags=0xe0')) as vm:
        card = Card(vm)
        assert bar_size(card, hw.PCI_BAR0)[0] == 512 << 10
        assert (card.cfg_read(card.cap(hw.CAP_MSIX)) >> 16) & 0x7ff == 2
        card.enable(vectors=3)
        assert card.reg(hw.MAC_LO) == 0x3e123456 and card.reg(hw.MAC_HI) == 0x00000016
        assert card.reg(hw.VERSION) == 0x01000000
        assert card.reg(hw.GRP_NUM) == 24


def test_bad_properties_are_refused(qemu_asan):
    """Each wrong value: no VM, and a sentence that names the property"""
    bad = {
        'bar0-size=768K': 'bar0', 'bar0-size=256K': 'bar0', 'bar0-size=1T': 'bar0',
        'vectors=0': 'vectors', 'vectors=1': 'vectors', 'vectors=33': 'vectors',
        'version=0': 'version', 'max-mr-size=64': 'mr', 'max-mr-size=0': 'mr',
        'max-recv-wr=16': 'recv', 'max-cqe=21': 'cqe', 'max-gid=200': 'gid',
        'qblock=0': 'qblock', 'qblock=513': 'qblock', 'local-dma-key=0x100': 'dma',
        'grp-num=25': 'grp', 'hold-ms=4294967295': 'hold', 'flags=256': 'flags',
        'romfile=pxe-virtio.rom': 'ROM', 'mac=nonsense': 'mac', 'mac=01:00:5e:00:00:01': 'mac',
        'nonsense=1': 'nonsense',
    }
    for prop, word in bad.items():
        text = run_refused(qemu_asan, device(prop))
        assert word.lower() in text.lower(), f'{prop}: {text}'
    text = run_refused(qemu_asan, ['-device', 'erdma'])
    assert "'mac' is missing" in text and 'network card' in text, text


def test_function_level_reset(qemu_asan):
    """FLR: registers as after power-on, BARs and bus mastering cleared"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.reset_function()
        assert card.cfg_read(card.cap(hw.CAP_PCIE) + 8) & 1 << 15 == 0
        assert card.cfg_read(hw.PCI_COMMAND) & 7 == 0
        card.enable()
        assert card.reg(hw.STATUS) & hw.INIT_DONE == 0
        card.bring_up().must(hw.COMMON, hw.QUERY_FW)


def test_power_states(qemu_asan):
    """D3hot: silent, reads all ones; back in D0 as after reset"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        card.arm_cmdq()
        pm = card.cap(hw.CAP_PM)
        card.cfg_write(pm + 4, 3)
        assert card.reg(hw.VERSION) == 0xffffffff
        card.post(hw.COMMON, hw.QUERY_FW)
        vm.step(1000000)
        card.cfg_write(pm + 4, 0)
        assert card.cfg_read(hw.PCI_COMMAND) & 7 == 0
        card.enable()
        assert card.reg(hw.STATUS) & hw.INIT_DONE == 0
        assert card.cq.peek() is None and not card.irq(0)
        card.bring_up().must(hw.COMMON, hw.QUERY_FW)


def test_system_reset(qemu_asan):
    """Reset of the machine resets the card"""
    with Qemu(qemu_asan, DEVICE) as vm:
        card = Card(vm).enable().bring_up()
        vm.qmp('system_reset')
        vm.wait_event('RESET')
        card.enable()
        assert card.reg(hw.STATUS) & hw.INIT_DONE == 0
        card.bring_up().must(hw.COMMON, hw.QUERY_FW)


def test_two_cards(qemu_asan):
    """Own registers, own queues; reset of one leaves the other alone"""
    with Qemu(qemu_asan, DEVICE + ['-device', 'erdma,addr=4,mac=52:54:00:00:00:02']) as vm:
        one, two = Card(vm).enable().bring_up(), Card(vm, slot=4, number=1).enable().bring_up()
        assert one.reg(hw.MAC_HI) == 0x0016 and two.reg(hw.MAC_HI) == 0x5254
        one.must(hw.COMMON, hw.QUERY_FW)
        one.set(hw.CTRL, hw.RESET)
        two.must(hw.COMMON, hw.QUERY_FW)
        assert one.reg(hw.STATUS) & hw.INIT_DONE == 0
        assert two.reg(hw.STATUS) & hw.INIT_DONE


def test_hot_plug_and_unplug(qemu_asan):
    """10 times, with an armed queue and a command in between; no leak (ASan)"""
    with Qemu(qemu_asan, ports_args(4)) as vm:
        port = RootPort(vm, 4)
        for _ in range(10):
            card = port.plug()
            assert card.cfg_read(0) == hw.VENDOR_DEVICE
            card.enable().bring_up()
            card.must(hw.COMMON, hw.QUERY_FW)
            card.arm_cmdq()
            card.post(hw.COMMON, hw.QUERY_FW)
            port.power_off()
            vm.wait_event('DEVICE_DELETED')
            assert card.cfg_read(0) == 0xffffffff
