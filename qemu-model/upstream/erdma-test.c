/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QTest of the Elastic RDMA Adapter: identity, set-up handshake, one command,
 * and what a guest must not be able to do.
 */
#include "qemu/osdep.h"
#include "libqtest.h"
#include "libqos/libqos-pc.h"
#include "libqos/pci-pc.h"
#include "hw/pci/pci_regs.h"
#include "qemu/bswap.h"

#define VENDOR_ID       0x1ded
#define DEVICE_ID       0x107f
#define SLOT            4

#define REG_VERSION     0x00
#define REG_CTRL        0x10
#define REG_STATUS      0x14
#define REG_MAC_LO      0x18
#define REG_MAC_HI      0x1c
#define REG_SQ_LO       0x20
#define REG_CQ_LO       0x28
#define REG_DEPTH       0x30
#define REG_EQ_DEPTH    0x34
#define REG_EQ_LO       0x38
#define REG_AEQ_LO      0x40
#define REG_AEQ_DEPTH   0x48
#define REG_SQ_DB       0x200
#define CTRL_RESET      1
#define CTRL_INIT       2
#define STATUS_INIT     2
#define ENTRIES         128

typedef struct Card {
    QOSState *qs;
    QPCIDevice *dev;
    QPCIBar bar;
    uint64_t sq, cq, eq, aeq;
} Card;

static void card_start(Card *c, const char *more)
{
    c->qs = qtest_pc_boot("-device erdma,addr=%d.0,mac=52:54:00:77:00:01%s",
                          SLOT, more);
    c->dev = qpci_device_find(c->qs->pcibus, QPCI_DEVFN(SLOT, 0));
    g_assert_nonnull(c->dev);
    qpci_device_enable(c->dev);
    c->bar = qpci_iomap(c->dev, 0, NULL);
}

static void card_end(Card *c)
{
    g_free(c->dev);
    qtest_shutdown(c->qs);
}

static uint64_t ring(Card *c, uint32_t reg, size_t bytes)
{
    uint64_t addr = guest_alloc(&c->qs->alloc, bytes);

    qtest_memset(c->qs->qts, addr, 0, bytes);
    qpci_io_writel(c->dev, c->bar, reg, addr);
    qpci_io_writel(c->dev, c->bar, reg + 4, addr >> 32);
    return addr;
}

static void card_init(Card *c)
{
    c->sq = ring(c, REG_SQ_LO, ENTRIES * 32);
    c->cq = ring(c, REG_CQ_LO, ENTRIES * 32);
    c->eq = ring(c, REG_EQ_LO, ENTRIES * 16);
    c->aeq = ring(c, REG_AEQ_LO, ENTRIES * 16);
    qpci_io_writel(c->dev, c->bar, REG_DEPTH, ENTRIES);
    qpci_io_writel(c->dev, c->bar, REG_EQ_DEPTH, ENTRIES);
    qpci_io_writel(c->dev, c->bar, REG_AEQ_DEPTH, ENTRIES);
    qpci_io_writel(c->dev, c->bar, REG_CTRL, CTRL_INIT);
}

static void test_identity(void)
{
    Card c;

    card_start(&c, "");
    g_assert_cmphex(qpci_config_readw(c.dev, PCI_VENDOR_ID), ==, VENDOR_ID);
    g_assert_cmphex(qpci_config_readw(c.dev, PCI_DEVICE_ID), ==, DEVICE_ID);
    g_assert_cmphex(qpci_io_readl(c.dev, c.bar, REG_VERSION), ==, 0x02000000);
    g_assert_cmphex(qpci_io_readl(c.dev, c.bar, REG_MAC_HI), ==, 0x5254);
    g_assert_cmphex(qpci_io_readl(c.dev, c.bar, REG_MAC_LO), ==, 0x00770001);
    card_end(&c);
}

static void test_command(void)
{
    /* QUERY_FW_INFO in four blocks; the index behind it is 4 */
    uint64_t hdr = cpu_to_le64(4 | 2ull << 16 | 1ull << 24 | 3ull << 52);
    uint32_t cqe[8];
    Card c;

    card_start(&c, "");
    card_init(&c);
    g_assert_cmphex(qpci_io_readl(c.dev, c.bar, REG_STATUS) & STATUS_INIT, ==,
                    STATUS_INIT);
    qtest_memwrite(c.qs->qts, c.sq, &hdr, sizeof(hdr));
    qpci_io_writeq(c.dev, c.bar, REG_SQ_DB, 4);
    qtest_memread(c.qs->qts, c.cq, cqe, sizeof(cqe));
    g_assert_cmphex(be32_to_cpu(cqe[0]) >> 31, ==, 1);      /* written */
    g_assert_cmphex(be32_to_cpu(cqe[0]) & 0xff, ==, 0);     /* succeeded */
    g_assert_cmphex(be32_to_cpu(cqe[2]), ==, 0x225);
    qpci_io_writel(c.dev, c.bar, REG_CTRL, CTRL_RESET);
    g_assert_cmphex(qpci_io_readl(c.dev, c.bar, REG_STATUS) & STATUS_INIT, ==,
                    0);
    card_end(&c);
}

/* Depths and addresses that cannot be: no INIT, and nothing is touched */
static void test_bad_init(void)
{
    Card c;

    card_start(&c, "");
    card_init(&c);
    qpci_io_writel(c.dev, c.bar, REG_DEPTH, 0xffffffff);
    qpci_io_writel(c.dev, c.bar, REG_CTRL, CTRL_INIT);
    g_assert_cmphex(qpci_io_readl(c.dev, c.bar, REG_STATUS) & STATUS_INIT, ==,
                    0);
    qpci_io_writeq(c.dev, c.bar, REG_SQ_DB, 4);
    qpci_io_writel(c.dev, c.bar, REG_DEPTH, ENTRIES);
    qpci_io_writel(c.dev, c.bar, REG_SQ_LO, 0xfee00000);
    qpci_io_writel(c.dev, c.bar, REG_CQ_LO, 0xfffff000);
    qpci_io_writel(c.dev, c.bar, REG_CQ_LO + 4, 0xffffffff);
    qpci_io_writel(c.dev, c.bar, REG_CTRL, CTRL_INIT);
    qpci_io_writeq(c.dev, c.bar, REG_SQ_DB, 64);
    card_end(&c);
}

/* Every size anywhere in the BAR */
static void test_any_access(void)
{
    uint64_t offset;
    Card c;

    card_start(&c, ",bar0-size=1M");
    card_init(&c);
    for (offset = 0; offset < 1 << 20; offset += 0x3f8) {
        qpci_io_readb(c.dev, c.bar, offset);
        qpci_io_writeb(c.dev, c.bar, offset + 1, 0xff);
        qpci_io_writew(c.dev, c.bar, offset + 2, 0xffff);
        qpci_io_writel(c.dev, c.bar, offset + 4, 0x7fffffff);
        qpci_io_writeq(c.dev, c.bar, offset, UINT64_MAX);
        qpci_io_readq(c.dev, c.bar, offset);
    }
    card_end(&c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/erdma/identity", test_identity);
    qtest_add_func("/erdma/command", test_command);
    qtest_add_func("/erdma/bad-init", test_bad_init);
    qtest_add_func("/erdma/any-access", test_any_access);
    return g_test_run();
}
