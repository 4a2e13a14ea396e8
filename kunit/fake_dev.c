// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* See fake_dev.h. Doorbells arrive with the driver's locks held. */
#include <linux/dma-mapping.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "fake_dev.h"

/* ---- rings --------------------------------------------------------------- */

/**
 * fake_virt - memory behind a bus address of coherent memory
 * @bus: address; no IOMMU here
 *
 * Return: its kernel address.
 */
void *fake_virt(u64 bus)
{
	return phys_to_virt(bus);
}

static void *fake_base(struct fake_dev *f, u32 lo, u32 hi)
{
	return fake_virt(f->regs[lo / 4] | (u64)f->regs[hi / 4] << 32);
}

static void fake_raise(struct fake_dev *f)
{
	if (!f->eq_armed)
		return;
	f->eq_armed = false;
	if (f->mute)
		f->lost++;
	else
		queue_work(system_highpri_wq, &f->irq);
}

/* An entry of the command EQ */
static void fake_write_eqe(struct fake_dev *f)
{
	u32 depth = f->regs[ERDMA_REG_CMDQ_EQ_DEPTH / 4];
	struct erdma_ceqe *eq = fake_base(f, ERDMA_REG_CMDQ_EQ_BASE_LO, ERDMA_REG_CMDQ_EQ_BASE_HI);
	u32 owner = erdma_ring_owner(f->eq_pi, depth);

	WRITE_ONCE(eq[erdma_ring_slot(f->eq_pi, depth)].data,
		   cpu_to_le64(FIELD_PREP(ERDMA_CEQE_OWNER, owner)));
	f->eq_pi++;
	fake_raise(f);
}

/**
 * fake_write_cqe - write a CQE without looking at any command
 * @f: fake; its lock is held or nobody else uses it
 * @owner_of: index whose owner bit to write; the CQE goes to the next index
 * @index: SQ index
 * @hdr: first word without the owner bit
 */
void fake_write_cqe(struct fake_dev *f, u32 owner_of, u32 index, u32 hdr)
{
	u32 depth = f->regs[ERDMA_REG_CMDQ_DEPTH / 4];
	struct erdma_cqe *cq = fake_base(f, ERDMA_REG_CMDQ_CQ_BASE_LO, ERDMA_REG_CMDQ_CQ_BASE_HI);
	struct erdma_cqe *cqe = &cq[erdma_ring_slot(f->cq_pi, depth)];

	cqe->qe_idx = cpu_to_be32(index);
	dma_wmb(); /* body before owner bit */
	WRITE_ONCE(cqe->hdr, cpu_to_be32(hdr | FIELD_PREP(ERDMA_CQE_OWNER,
							  erdma_ring_owner(owner_of, depth))));
	f->cq_pi++;
	if (f->cq_armed) {
		f->cq_armed = false;
		fake_write_eqe(f);
	}
}

static void fake_write_resp(struct fake_dev *f, const struct fake_answer *a)
{
	struct erdma_cqe *cq = fake_base(f, ERDMA_REG_CMDQ_CQ_BASE_LO, ERDMA_REG_CMDQ_CQ_BASE_HI);
	struct erdma_cqe *cqe = &cq[erdma_ring_slot(f->cq_pi, f->regs[ERDMA_REG_CMDQ_DEPTH / 4])];
	int i;

	for (i = 0; i < 2; i++) {
		cqe->resp[2 * i] = cpu_to_be32(lower_32_bits(a->resp[i]));
		cqe->resp[2 * i + 1] = cpu_to_be32(upper_32_bits(a->resp[i]));
	}
}

static void fake_answer_locked(struct fake_dev *f, struct fake_cmd *cmd,
			       const struct fake_answer *a)
{
	struct fake_answer own = a ? *a : f->default_answer;
	u64 hdr = le64_to_cpup((__le64 *)cmd->slot);

	if (!a && f->answer)
		f->answer(f, cmd, &own);
	fake_write_resp(f, &own);
	fake_write_cqe(f, f->cq_pi, cmd->index,
		       (FIELD_PREP(ERDMA_CQE_OPCODE, FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr)) |
			FIELD_PREP(ERDMA_CQE_QTYPE, ERDMA_CQE_QTYPE_CMDQ) |
			FIELD_PREP(ERDMA_CQE_SYNDROME, own.syndrome)) ^ own.wrong);
	cmd->answered = true;
}

static struct fake_cmd *fake_new_cmd(struct fake_dev *f)
{
	if (f->n_cmds == FAKE_MAX_CMDS) {
		memmove(f->cmds, f->cmds + 1, sizeof(f->cmds) - sizeof(f->cmds[0]));
		f->n_cmds--;
	}
	f->total++;
	return &f->cmds[f->n_cmds++];
}

/* Fetch everything up to the producer index */
static void fake_fetch(struct fake_dev *f, u16 pi)
{
	u8 *sq = fake_base(f, ERDMA_REG_CMDQ_SQ_BASE_LO, ERDMA_REG_CMDQ_SQ_BASE_HI);
	u32 depth = f->regs[ERDMA_REG_CMDQ_DEPTH / 4];
	struct fake_cmd *cmd;
	u64 hdr;

	while (f->sq_ci != pi) {
		cmd = fake_new_cmd(f);
		cmd->index = f->sq_ci;
		cmd->answered = false;
		memcpy(cmd->slot, sq + erdma_ring_slot(f->sq_ci, depth) * ERDMA_WQEBB_SIZE,
		       FAKE_SLOT_BYTES);
		hdr = le64_to_cpup((__le64 *)cmd->slot);
		f->sq_ci += FIELD_GET(ERDMA_CMD_HDR_WQEBBS, hdr) + 1;
		if (!f->hold && !f->late)
			fake_answer_locked(f, cmd, NULL);
	}
	if (f->late && !f->hold)
		queue_work(system_highpri_wq, &f->answerer);
}

/* ---- registers ----------------------------------------------------------- */

static u32 fake_read32(void *ctx, u32 off)
{
	struct fake_dev *f = ctx;

	return f->regs[off / 4];
}

static void fake_write32(void *ctx, u32 off, u32 value)
{
	struct fake_dev *f = ctx;
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	f->regs[off / 4] = value;
	f->writes++;
	if (off == ERDMA_REG_CTRL && value == ERDMA_CTRL_RESET && !f->no_reset)
		f->regs[ERDMA_REG_STATUS / 4] = ERDMA_STATUS_RESET_DONE;
	spin_unlock_irqrestore(&f->lock, flags);
}

static void fake_arm_cq(struct fake_dev *f, u64 db)
{
	f->arms++;
	f->last_arm = db;
	f->cq_armed = true;
	if (FIELD_GET(ERDMA_CQ_DB_CI, db) == (f->cq_pi & ERDMA_CQ_CI_MASK))
		return;
	f->cq_armed = false;
	fake_write_eqe(f);
}

static void fake_write64(void *ctx, u32 off, u64 value)
{
	struct fake_dev *f = ctx;
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	f->wide[off / 8] = value;
	f->writes++;
	switch (off) {
	case ERDMA_REG_CMDQ_SQ_DB:
		fake_fetch(f, value);
		break;
	case ERDMA_REG_CMDQ_CQ_DB:
		fake_arm_cq(f, value);
		break;
	case ERDMA_REG_EQ_DB(0):
		f->eq_armed = true;
		if (((f->eq_pi ^ value) & ERDMA_EQ_CI_MASK))
			fake_raise(f);
		break;
	}
	spin_unlock_irqrestore(&f->lock, flags);
}

static bool fake_present(void *ctx)
{
	const struct fake_dev *f = ctx;

	return !f->unplugged;
}

static bool fake_stop_master(void *ctx)
{
	struct fake_dev *f = ctx;

	f->masters_stopped++;
	return !f->is_master;
}

static const struct erdma_mmio_ops fake_ops = {
	.read32 = fake_read32,
	.write32 = fake_write32,
	.write64 = fake_write64,
	.present = fake_present,
	.stop_master = fake_stop_master,
};

static void fake_irq(struct work_struct *work)
{
	struct fake_dev *f = container_of(work, struct fake_dev, irq);
	unsigned long flags;

	local_irq_save(flags);
	erdma_cmdq_irq(&f->dev->cmdq);
	local_irq_restore(flags);
}

/* ---- for the tests ------------------------------------------------------- */

/**
 * fake_of - the device of a test
 * @test: test whose suite uses fake_init()
 *
 * Return: it.
 */
struct fake_dev *fake_of(struct kunit *test)
{
	return test->priv;
}

/**
 * fake_last_slot - bytes of the newest command
 * @f: fake
 *
 * Return: FAKE_SLOT_BYTES bytes, or NULL.
 */
const void *fake_last_slot(struct fake_dev *f)
{
	return f->n_cmds ? f->cmds[f->n_cmds - 1].slot : NULL;
}

/**
 * fake_exec - run a command without body
 * @f: fake
 * @opcode: any
 * @res: result, may be NULL
 *
 * Return: of erdma_cmdq_exec().
 */
int fake_exec(struct fake_dev *f, u8 opcode, struct erdma_cmd_result *res)
{
	__le64 req = 0;

	return erdma_cmdq_exec(&f->dev->cmdq, ERDMA_SUBMOD_RDMA, opcode, &req, sizeof(req), res,
			       FAKE_TIMEOUT_MS);
}

/**
 * fake_exec_for - run a command without body that nothing depends on
 * @f: fake
 * @res: result, may be NULL
 * @timeout_ms: as for erdma_cmdq_exec()
 *
 * Return: of erdma_cmdq_exec().
 */
int fake_exec_for(struct fake_dev *f, struct erdma_cmd_result *res, u32 timeout_ms)
{
	__le64 req = 0;

	return erdma_cmdq_exec(&f->dev->cmdq, ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_QPC, &req,
			       sizeof(req), res, timeout_ms);
}

/**
 * fake_exec_short - run a command that will not be answered in time
 * @f: fake
 *
 * Return: of erdma_cmdq_exec().
 */
int fake_exec_short(struct fake_dev *f)
{
	return fake_exec_for(f, NULL, FAKE_SHORT_MS);
}

/**
 * fake_answer_cmd - answer a command that was held
 * @f: fake
 * @n: number in @f->cmds
 * @a: answer; NULL: the default one
 */
void fake_answer_cmd(struct fake_dev *f, u32 n, const struct fake_answer *a)
{
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	fake_answer_locked(f, &f->cmds[n], a);
	spin_unlock_irqrestore(&f->lock, flags);
}

static void fake_answer_rest(struct fake_dev *f, bool and_later_ones)
{
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&f->lock, flags);
	if (and_later_ones)
		f->hold = false;
	for (i = 0; i < f->n_cmds && !f->hold; i++)
		if (!f->cmds[i].answered)
			fake_answer_locked(f, &f->cmds[i], NULL);
	spin_unlock_irqrestore(&f->lock, flags);
}

static void fake_answerer(struct work_struct *work)
{
	fake_answer_rest(container_of(work, struct fake_dev, answerer), false);
}

/**
 * fake_answer_all - answer everything that was held, in order
 * @f: fake; @f->hold is cleared
 */
void fake_answer_all(struct fake_dev *f)
{
	fake_answer_rest(f, true);
}

/**
 * fake_event - an event without a completion
 * @f: fake
 */
void fake_event(struct fake_dev *f)
{
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	fake_write_eqe(f);
	spin_unlock_irqrestore(&f->lock, flags);
}

/**
 * fake_settle - wait until the driver handled all interrupts
 * @f: fake
 */
void fake_settle(struct fake_dev *f)
{
	while (flush_work(&f->irq))
		;
}

static int fake_pools(struct fake_dev *f)
{
	struct erdma_dev *dev = f->dev;

	f->platform = platform_device_register_simple("erdma_kunit", PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(f->platform))
		return PTR_ERR(f->platform);
	dev->dbrec_pool = dma_pool_create("erdma_dbrec", &f->platform->dev, ERDMA_DBREC_SIZE,
					  ERDMA_DBREC_SIZE, 0);
	dev->response_pool = dma_pool_create("erdma_resp", &f->platform->dev, ERDMA_RESP_BUF_SIZE,
					     ERDMA_RESP_BUF_SIZE, 0);
	if (dev->dbrec_pool && dev->response_pool)
		return 0;
	dma_pool_destroy(dev->response_pool);
	dma_pool_destroy(dev->dbrec_pool);
	platform_device_unregister(f->platform);
	return -ENOMEM;
}

/* Never registered: has a name, identity and DMA masks, nothing else */
static void fake_pci(struct fake_dev *f)
{
	struct pci_dev *pci = f->pci;

	pci->dev.init_name = "0000:00:05.0";
	pci->dev.coherent_dma_mask = DMA_BIT_MASK(64);
	pci->dev.dma_mask = &pci->dev.coherent_dma_mask;
	set_dev_node(&pci->dev, NUMA_NO_NODE);
	pci->vendor = ERDMA_PCI_VENDOR_ID;
	pci->device = ERDMA_PCI_DEVICE_ID;
	pci->revision = 1;
}

static int fake_cmdq(struct fake_dev *f)
{
	struct erdma_dev *dev = f->dev;
	struct erdma_cmdq *q = &dev->cmdq;

	dev->mmio.ops = &fake_ops;
	dev->mmio.ctx = f;
	dev->mmio.len = ERDMA_BAR0_MIN_SIZE;
	q->mmio = &dev->mmio;
	q->dev = dev;
	q->dma_dev = &f->platform->dev;
	q->dbrec_pool = dev->dbrec_pool;
	q->stats = &dev->stats;
	erdma_stats_init(dev);
	q->timeout_ms = FAKE_TIMEOUT_MS;
	return erdma_cmdq_init(q);
}

/**
 * fake_objtab_init - a table whose objects can be published
 * @tab: to initialise; fake_objtab_exit() undoes that, also after an error
 *
 * Return: 0 or -ENOMEM.
 */
int fake_objtab_init(struct erdma_objtab *tab)
{
	int id, err;

	erdma_objtab_init(tab);
	err = erdma_objtab_size(tab, 1, FAKE_NUMBERS);
	if (err)
		return err;
	/* Who has had a number has made the place of its object */
	for (id = 1; id <= FAKE_NUMBERS; id++)
		if (erdma_objtab_alloc(tab) != id)
			return -ENOMEM;
	for (id = 1; id <= FAKE_NUMBERS; id++)
		erdma_objtab_free(tab, id);
	tab->ids.next = 1;
	return 0;
}

/**
 * fake_objtab_exit - free a table, and forget objects that a test left behind
 * @tab: initialised
 */
void fake_objtab_exit(struct erdma_objtab *tab)
{
	u32 id = 0;

	while (erdma_objtab_next(tab, &id))
		erdma_objtab_withdraw(tab, id);
	erdma_objtab_exit(tab);
}

/**
 * fake_publish - let others find an object that nobody created
 * @tab: table of the device
 * @id: number, at most FAKE_NUMBERS
 * @ref: of the object
 */
void fake_publish(struct erdma_objtab *tab, u32 id, struct erdma_ref *ref)
{
	erdma_idtab_reserve(&tab->ids, id);
	atomic_inc(&tab->ids.used);
	erdma_objtab_publish(tab, id, ref);
}

/* What rdma_user_mmap_entry_insert() does, which needs a file of the RDMA core's */
static void add_page(struct kunit *test, struct erdma_ucontext *ctx,
		     struct erdma_mmap_entry *entry)
{
	struct rdma_user_mmap_entry *rdma = &entry->rdma;
	u32 pgoff;

	kref_init(&rdma->ref);
	rdma->ucontext = &ctx->ibucontext;
	rdma->npages = 1;
	KUNIT_ASSERT_EQ(test, xa_alloc(&ctx->ibucontext.mmap_xa, &pgoff, rdma, xa_limit_32b,
				       GFP_KERNEL), 0);
	rdma->start_pgoff = pgoff;
}

static int keep_pages(struct kunit_resource *res, void *ctx)
{
	struct erdma_ucontext *c = ctx;

	xa_init_flags(&c->ibucontext.mmap_xa, XA_FLAGS_ALLOC);
	res->data = &c->ibucontext.mmap_xa;
	return 0;
}

static void drop_pages(struct kunit_resource *res)
{
	xa_destroy(res->data);
}

/**
 * fake_context - a user context for erdma_dealloc_ucontext()
 * @test: test with a fake
 *
 * Return: context whose pages can be mapped, but are none of the device's; the test ends if
 * there is none.
 */
struct erdma_ucontext *fake_context(struct kunit *test)
{
	struct erdma_ucontext *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct erdma_dev *dev = fake_of(test)->dev;
	int id = erdma_objtab_alloc(&dev->ctxs);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ctx);
	KUNIT_ASSERT_GT(test, id, 0);
	ctx->id = id;
	ctx->ibucontext.device = &dev->ibdev;
	erdma_ref_init(&ctx->ref);
	erdma_dbrec_init(ctx);
	/* A test need not end it */
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kunit_alloc_resource(test, keep_pages, drop_pages,
								GFP_KERNEL, ctx));
	add_page(test, ctx, &ctx->sq_page);
	add_page(test, ctx, &ctx->rq_page);
	add_page(test, ctx, &ctx->cq_page);
	return ctx;
}

/**
 * fake_gives_pages_back - end a context; did it give its doorbell pages back?
 * @f: fake, which has others for the next context
 * @ctx: of fake_context()
 *
 * Return: true if the device got a command.
 */
bool fake_gives_pages_back(struct fake_dev *f, struct erdma_ucontext *ctx)
{
	u32 before = f->total;

	f->dev->db_spare.valid = true;
	erdma_dealloc_ucontext(&ctx->ibucontext);
	f->dev->db_spare.valid = false;
	return f->total != before;
}

/**
 * fake_init - init function of suites that need a device
 * @test: test; fake_of() gives the device
 *
 * Return: 0 or -errno.
 */
int fake_init(struct kunit *test)
{
	struct fake_dev *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	int ret;

	if (!f)
		return -ENOMEM;
	f->dev = kunit_kzalloc(test, sizeof(*f->dev), GFP_KERNEL);
	f->pci = kunit_kzalloc(test, sizeof(*f->pci), GFP_KERNEL);
	if (!f->dev || !f->pci)
		return -ENOMEM;
	spin_lock_init(&f->lock);
	INIT_WORK(&f->irq, fake_irq);
	INIT_WORK(&f->answerer, fake_answerer);
	f->eq_armed = true;
	f->regs[ERDMA_REG_VERSION / 4] = FAKE_VERSION;
	f->dev->pdev = f->pci;
	fake_pci(f);
	spin_lock_init(&f->dev->lost_lock);
	erdma_debug_init(&f->dev->dbg);

	ret = fake_objtab_init(&f->dev->qps) ?: fake_objtab_init(&f->dev->cqs) ?:
	      fake_objtab_init(&f->dev->pds) ?: fake_objtab_init(&f->dev->mrs) ?:
	      fake_objtab_init(&f->dev->ctxs) ?: erdma_db_init(f->dev);
	if (ret)
		return ret;
	ret = fake_pools(f);
	if (ret)
		return ret;
	ret = fake_cmdq(f);
	if (ret)
		return ret;
	test->priv = f;
	return 0;
}

/**
 * fake_init_owner - fake_init() of suites that need more than a device
 * @test: test; fake_of(test)->owner is what they need
 * @size: bytes of that
 *
 * Return: the owner, zeroed, or NULL: the device or its owner cannot be made.
 */
void *fake_init_owner(struct kunit *test, size_t size)
{
	if (fake_init(test))
		return NULL;
	fake_of(test)->owner = kunit_kzalloc(test, size, GFP_KERNEL);
	return fake_of(test)->owner;
}

/**
 * fake_exit - exit function of suites that need a device
 * @test: test
 */
void fake_exit(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	if (!f)
		return;
	cancel_work_sync(&f->answerer);
	cancel_work_sync(&f->irq);
	erdma_cmdq_exit(&f->dev->cmdq);
	erdma_debug_exit(&f->dev->dbg);
	fake_objtab_exit(&f->dev->qps);
	fake_objtab_exit(&f->dev->cqs);
	fake_objtab_exit(&f->dev->pds);
	fake_objtab_exit(&f->dev->mrs);
	fake_objtab_exit(&f->dev->ctxs);
	erdma_db_exit(f->dev);
	dma_pool_destroy(f->dev->response_pool);
	dma_pool_destroy(f->dev->dbrec_pool);
	platform_device_unregister(f->platform);
}
