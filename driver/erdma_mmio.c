// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * BAR0: mapping, register access, reset and INIT handshake
 * (docs/erdma-hardware.md, sections 1.2, 2.2 and 2.4).
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/pci.h>

#include "erdma.h"

#define RESET_POLLS	50
#define RESET_POLL_MS	20

static u32 mmio_read32(void *ctx, u32 off)
{
	const struct erdma_mmio *m = ctx;

	return readl(m->bar + off);
}

static void mmio_write32(void *ctx, u32 off, u32 value)
{
	const struct erdma_mmio *m = ctx;

	writel(value, m->bar + off);
}

static void mmio_write64(void *ctx, u32 off, u64 value)
{
	const struct erdma_mmio *m = ctx;

	writeq(value, m->bar + off);
}

static bool mmio_present(void *ctx)
{
	const struct erdma_mmio *m = ctx;

	return pci_device_is_present(m->pdev);
}

static bool mmio_stop_master(void *ctx)
{
	const struct erdma_mmio *m = ctx;
	u16 command = 0;

	pci_clear_master(m->pdev);
	/* What does not answer reads as ones, and reaches nothing */
	pci_read_config_word(m->pdev, PCI_COMMAND, &command);
	return command == U16_MAX || !(command & PCI_COMMAND_MASTER);
}

static const struct erdma_mmio_ops mmio_ops = {
	.read32 = mmio_read32,
	.write32 = mmio_write32,
	.write64 = mmio_write64,
	.present = mmio_present,
	.stop_master = mmio_stop_master,
};

/* Section 1.2: a function that shows other resources is not the one we know */
static int mmio_check_bars(struct pci_dev *pdev)
{
	int bars = pci_select_bars(pdev, IORESOURCE_MEM);

	if (bars != ERDMA_BAR_SET) {
		dev_err(&pdev->dev, "memory BARs are %#x, expected %#x (BAR 0 and BAR 2)\n", bars,
			ERDMA_BAR_SET);
		return -EINVAL;
	}
	if (pci_resource_len(pdev, ERDMA_BAR_REGS) < ERDMA_BAR0_MIN_SIZE) {
		dev_err(&pdev->dev, "BAR 0 has %#llx bytes, expected at least %#x\n",
			(u64)pci_resource_len(pdev, ERDMA_BAR_REGS), ERDMA_BAR0_MIN_SIZE);
		return -EINVAL;
	}
	return 0;
}

/**
 * erdma_mmio_init - claim the BARs and map BAR0
 * @m: to initialise
 * @pdev: enabled PCI function
 *
 * Section 1.2: the memory resources must be exactly BAR0 and BAR2.
 *
 * Context: process.
 * Return: 0; -EINVAL: other BARs than expected; -EBUSY: claimed by somebody
 * else; -ENOMEM.
 */
int erdma_mmio_init(struct erdma_mmio *m, struct pci_dev *pdev)
{
	int err;

	err = mmio_check_bars(pdev);
	if (err)
		return err;

	err = pci_request_selected_regions(pdev, ERDMA_BAR_SET, ERDMA_DRV_NAME);
	if (err) {
		dev_err(&pdev->dev, "BARs are in use: %pe\n", ERR_PTR(err));
		return err;
	}

	m->phys = pci_resource_start(pdev, ERDMA_BAR_REGS);
	m->len = pci_resource_len(pdev, ERDMA_BAR_REGS);
	m->bar = ioremap(m->phys, m->len);
	if (!m->bar) {
		dev_err(&pdev->dev, "BAR 0 cannot be mapped\n");
		pci_release_selected_regions(pdev, ERDMA_BAR_SET);
		return -ENOMEM;
	}
	m->ops = &mmio_ops;
	m->ctx = m;
	m->pdev = pdev;
	return 0;
}

/**
 * erdma_mmio_exit - undo erdma_mmio_init()
 * @m: BAR0; nobody accesses it any more
 * @pdev: PCI function
 */
void erdma_mmio_exit(struct erdma_mmio *m, struct pci_dev *pdev)
{
	iounmap(m->bar);
	m->bar = NULL;
	pci_release_selected_regions(pdev, ERDMA_BAR_SET);
}

/**
 * erdma_device_is_gone - has the device left the bus?
 * @m: BAR0
 *
 * Its registers read as ones then, or as zeros, as a hypervisor may have it: the
 * version of a device has neither value (2.2), the status of one that was started
 * neither. A device whose memory space was disabled looks the same.
 *
 * Context: any.
 * Return: true if it has.
 */
bool erdma_device_is_gone(const struct erdma_mmio *m)
{
	u32 version;

	if (!m->ops->present(m->ctx))
		return true;
	version = erdma_read32(m, ERDMA_REG_VERSION);
	if (version != 0 && version != U32_MAX)
		return false;
	return erdma_read32(m, ERDMA_REG_STATUS) == version;
}

/* Wait until the bits @mask of STATUS are @value. An absent device reads as ones. */
static int mmio_wait_status(const struct erdma_mmio *m, u32 mask, u32 value, int polls,
			    int poll_ms)
{
	u32 status;
	int i;

	for (i = 0; i < polls; i++) {
		status = erdma_read32(m, ERDMA_REG_STATUS);
		if (status == U32_MAX)
			return -ENODEV;
		if ((status & mask) == value)
			return 0;
		msleep(poll_ms);
	}
	return -ETIMEDOUT;
}

/**
 * erdma_reset_device - stop the function: no DMA and no interrupt from now on
 * @m: BAR0
 *
 * Section 2.4. All objects of the device are gone; queue memory may be freed.
 * Waits at most one second for the device to say so: an earlier reset may have left
 * RESET_DONE behind, so INIT_DONE must be gone as well. Who frees memory afterwards
 * wants erdma_stop_dma().
 *
 * Context: process, may sleep.
 * Return: 0; -ETIMEDOUT: not confirmed; -ENODEV: the device is not there.
 */
int erdma_reset_device(const struct erdma_mmio *m)
{
	erdma_write32(m, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
	return mmio_wait_status(m, ERDMA_STATUS_RESET_DONE | ERDMA_STATUS_INIT_DONE,
				ERDMA_STATUS_RESET_DONE, RESET_POLLS, RESET_POLL_MS);
}

/**
 * erdma_reset_leftover - reset a function that may still know addresses of memory
 * @m: BAR0; bus mastering is off
 * @unconfirmed: its latest reset was not confirmed
 *
 * A crashed or kexec'ed kernel may have left it running (15.3).
 *
 * Context: process, may sleep.
 * Return: 0: it knows none, bus mastering may be enabled; -ETIMEDOUT: not confirmed;
 * -ENODEV: the device is not there.
 */
int erdma_reset_leftover(const struct erdma_mmio *m, bool unconfirmed)
{
	u32 status = erdma_read32(m, ERDMA_REG_STATUS);

	if (!(status & ERDMA_STATUS_INIT_DONE) && !unconfirmed)
		return 0;
	if (m->pdev)
		dev_info(&m->pdev->dev, "the function was left running (status %#x): reset\n",
			 status);
	return erdma_reset_device(m);
}

/**
 * erdma_stop_dma - keep the function from the host's memory, whatever it takes
 * @m: BAR0
 *
 * Resets it and takes bus mastering away, with which go its interrupts. Without a
 * confirmed reset it may still know addresses: @m->unconfirmed, for the next
 * erdma_reset_leftover().
 *
 * Context: process, may sleep.
 * Return: true: it reaches no memory any more. false: neither was confirmed, and
 * nothing that the function knows may be freed.
 */
bool erdma_stop_dma(struct erdma_mmio *m)
{
	m->unconfirmed = erdma_reset_device(m) != 0;
	return m->ops->stop_master(m->ctx) || !m->unconfirmed;
}

/**
 * erdma_wait_init - start the function and wait until it is ready
 * @m: BAR0; queue registers have been written
 *
 * Section 2.4: INIT, then up to 500 looks at STATUS, 20 ms apart.
 *
 * Context: process, may sleep.
 * Return: 0; -ETIMEDOUT; -ENODEV: the device is not there.
 */
int erdma_wait_init(const struct erdma_mmio *m)
{
	erdma_write32(m, ERDMA_REG_CTRL, ERDMA_CTRL_INIT);
	return mmio_wait_status(m, ERDMA_STATUS_INIT_DONE, ERDMA_STATUS_INIT_DONE,
				ERDMA_INIT_POLLS, ERDMA_INIT_POLL_MS);
}
