// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Events of the AEQ and of the completion EQs (docs/erdma-hardware.md, section
 * 7). The rings are in erdma_eq_ring.c, the command EQ is in erdma_cmdq.c.
 *
 * Handlers take at most ERDMA_EQ_BUDGET entries and then ring the doorbell with
 * their CI; the device interrupts again at once if entries are left (7.4).
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>

#include "compat/compat.h"
#include "erdma.h"
#include "erdma/erdma_names.h"
#include "erdma_trace.h"

#define EQ_GONE_LOOKS	20	/* between looks whether the device is there */
#define EQ_IDLE_LOOKS	20	/* that find nothing new: then they become rare */
#define EQ_IDLE_MS	1000	/* between rare looks */

static void eq_count_unknown(struct erdma_dev *dev, struct erdma_eq *eq, enum erdma_sw_stat stat)
{
	erdma_stat_inc(&dev->stats, stat);
	atomic64_inc(&eq->unknown);
}

/* ---- AEQ ----------------------------------------------------------------- */

static void aeq_entry(struct erdma_dev *dev, const struct erdma_aeqe *entry)
{
	u32 type = FIELD_GET(ERDMA_AEQE_TYPE, le32_to_cpu(entry->hdr));
	u32 subtype = FIELD_GET(ERDMA_AEQE_SUBTYPE, le32_to_cpu(entry->hdr));
	u32 object = le32_to_cpu(entry->object);
	u32 data = le32_to_cpu(entry->data);
	bool known;

	erdma_stat_async_event(&dev->stats, type, subtype);
	atomic64_inc(&dev->aeq.by_type[min_t(u32, type, ERDMA_AE_COUNT)]);
	erdma_dbg(dev, EQ, INFO, "async event %u (%s), subtype %u, object %u, data %#x\n", type,
		  erdma_name_ae_type(type) ?: "unknown", subtype, object, data);
	erdma_rec_event(dev, type, subtype, object, data);
	trace_erdma_aeqe(dev, type, subtype, object, data);

	/* Unknown types are treated like a QP error (7.2) */
	if (type == ERDMA_AE_CQ_ERR)
		known = erdma_cq_async_event(dev, object, type);
	else
		known = erdma_qp_async_event(dev, object, type);
	if (!known)
		eq_count_unknown(dev, &dev->aeq, ERDMA_STAT_AEQ_UNKNOWN);
}

/**
 * erdma_async_eq_irq - serve the asynchronous EQ
 * @dev: device
 *
 * Context: interrupt handler of vector 0.
 */
void erdma_async_eq_irq(struct erdma_dev *dev)
{
	int budget = ERDMA_EQ_BUDGET;
	struct erdma_aeqe entry;
	bool found = false;

	atomic64_inc(&dev->aeq.interrupts);
	while (budget-- && erdma_eq_next(&dev->aeq, &entry)) {
		aeq_entry(dev, &entry);
		found = true;
	}
	erdma_eq_rearm(&dev->aeq, found);
}

/**
 * erdma_async_eq_init - allocate the AEQ and write its registers
 * @dev: BAR0 and pools are ready, the function is not started
 *
 * Section 2.4, step 3.
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_async_eq_init(struct erdma_dev *dev)
{
	const struct erdma_mmio *m = &dev->mmio;
	struct erdma_eq *eq = &dev->aeq;
	int err;

	err = erdma_eq_init(eq, &dev->pdev->dev, dev->dbrec_pool, m, ERDMA_EQ_DEPTH,
			    ERDMA_REG_AEQ_DB);
	if (err)
		return err;

	erdma_write32(m, ERDMA_REG_AEQ_BASE_HI, upper_32_bits(eq->dma));
	erdma_write32(m, ERDMA_REG_AEQ_BASE_LO, lower_32_bits(eq->dma));
	erdma_write32(m, ERDMA_REG_AEQ_DEPTH, eq->depth);
	erdma_write64(m, ERDMA_REG_AEQ_DBREC, eq->dbrec_dma);
	return 0;
}

/**
 * erdma_async_eq_exit - free the AEQ
 * @dev: device; it has been reset and vector 0 has no handler
 *
 * Context: process.
 */
void erdma_async_eq_exit(struct erdma_dev *dev)
{
	atomic64_add(atomic64_read(&dev->aeq.notifies), &dev->stats.v[ERDMA_STAT_AEQ_ARMS]);
	erdma_eq_exit(&dev->aeq, &dev->pdev->dev, dev->dbrec_pool);
}

/* ---- completion EQs ------------------------------------------------------ */

static irqreturn_t ceq_irq(int irq, void *arg)
{
	struct erdma_ceq *ceq = arg;
	struct erdma_dev *dev = ceq->dev;
	int budget = ERDMA_EQ_BUDGET;
	struct erdma_ceqe entry;
	bool found = false, wanted;
	u32 cqn;

	atomic64_inc(&ceq->eq.interrupts);
	while (budget-- && erdma_eq_next(&ceq->eq, &entry)) {
		found = true;
		erdma_stat_inc(&dev->stats, ERDMA_STAT_CEQ_EVENTS);
		/* An unknown CQ is normal for a while after DESTROY_CQ (5.2.3) */
		cqn = FIELD_GET(ERDMA_CEQE_CQN, le64_to_cpu(entry.data));
		wanted = erdma_cq_event(dev, cqn);
		trace_erdma_ceqe(dev, ceq->eqn, cqn, wanted);
		if (!wanted)
			eq_count_unknown(dev, &ceq->eq, ERDMA_STAT_CEQ_UNKNOWN);
	}
	erdma_eq_rearm(&ceq->eq, found);
	smp_mb__after_atomic(); /* events before flag, see eqs_become_idle() */
	erdma_eqs_stir(dev);
	return IRQ_HANDLED;
}

/*
 * The device may own rings that must be freed now: it has to stop altogether.
 * Return: false if they must not be freed.
 */
static bool comp_eqs_take_back(struct erdma_dev *dev)
{
	erdma_cmdq_kill(&dev->cmdq);
	if (erdma_stop_dma(&dev->mmio))
		return true;
	dev_err(&dev->pdev->dev,
		"neither the reset nor the end of bus mastering was confirmed: event rings are leaked\n");
	return false;
}

static void ceq_destroy(struct erdma_dev *dev, struct erdma_ceq *ceq)
{
	if (!erdma_exec_destroy_eq(dev, ceq))
		ceq->at_device = false;
}

/* 5.3.1: the device learns the ring before the vector gets its handler */
static int ceq_init(struct erdma_dev *dev, struct erdma_ceq *ceq, u32 eqn)
{
	struct device *dma_dev = &dev->pdev->dev;
	enum erdma_cmd_outcome outcome;
	int err;

	ceq->dev = dev;
	ceq->eqn = eqn;
	ceq->irq = pci_irq_vector(dev->pdev, eqn);
	snprintf(ceq->name, sizeof(ceq->name), "erdma-ceq%u@pci:%s", eqn - 1,
		 pci_name(dev->pdev));

	err = erdma_eq_init(&ceq->eq, dma_dev, dev->dbrec_pool, &dev->mmio, ERDMA_EQ_DEPTH,
			    ERDMA_REG_EQ_DB(eqn));
	if (err)
		return err;
	err = erdma_exec_create_eq(dev, ceq, &outcome);
	ceq->at_device = !err || erdma_cmd_may_still_run(outcome);
	if (err)
		goto err_free;

	err = request_irq(ceq->irq, ceq_irq, 0, ceq->name, ceq);
	if (err) {
		dev_err(dma_dev, "no interrupt for completion EQ %u: %pe\n", eqn, ERR_PTR(err));
		goto err_device;
	}
	cpumask_set_cpu(cpumask_local_spread(eqn - 1, dev_to_node(dma_dev)), &ceq->affinity);
	irq_set_affinity_and_hint(ceq->irq, &ceq->affinity);
	ceq->ready = true;
	return 0;

err_device:
	ceq_destroy(dev, ceq);
err_free:
	if (!ceq->at_device || comp_eqs_take_back(dev))
		erdma_eq_exit(&ceq->eq, dma_dev, dev->dbrec_pool);
	return err;
}

/* 15.2, step 2. Handlers are gone before rings. */
static void ceq_quiesce(struct erdma_dev *dev, struct erdma_ceq *ceq)
{
	ceq->ready = false;
	irq_update_affinity_hint(ceq->irq, NULL);
	free_irq(ceq->irq, ceq);
	ceq_destroy(dev, ceq);
}

/* ---- lost interrupts ----------------------------------------------------- */

/* Return: true if the next look has to judge what was found */
static bool eq_look(struct erdma_dev *dev, struct erdma_eq *eq, enum erdma_sw_stat lost_irqs)
{
	if (erdma_eq_look(eq))
		erdma_stat_inc(&dev->stats, lost_irqs);
	if (erdma_eq_is_hidden(eq))
		erdma_device_lost(dev, ERDMA_LOST_EQ_HIDDEN);
	return eq->waiting || eq->hidden;
}

/* Who only posts requests would not notice */
static void eqs_check_gone(struct erdma_dev *dev)
{
	if (++dev->eq_looks % EQ_GONE_LOOKS && dev->eq_quiet < EQ_IDLE_LOOKS)
		return;
	if (erdma_device_is_gone(&dev->mmio))
		erdma_device_lost(dev, ERDMA_LOST_UNPLUGGED);
}

static s64 eqs_events(const struct erdma_dev *dev)
{
	s64 n = atomic64_read(&dev->aeq.events);
	u32 i;

	for (i = 0; i < dev->n_comp_eqs; i++)
		n += atomic64_read(&dev->comp_eqs[i].eq.events);
	return n;
}

/*
 * An event that a handler takes from now on finds the flag; one that it took before shows
 * in the number of events.
 */
static void eqs_become_idle(struct erdma_dev *dev)
{
	WRITE_ONCE(dev->eq_idle, true);
	smp_mb(); /* flag before events; the handler has them the other way round */
	if (eqs_events(dev) == dev->eq_seen)
		return;
	WRITE_ONCE(dev->eq_idle, false);
	dev->eq_quiet = 0;
}

/* @busy: this look found what the next one has to judge */
static void eqs_count_quiet(struct erdma_dev *dev, bool busy)
{
	bool idle = dev->eq_quiet == EQ_IDLE_LOOKS;
	s64 events = eqs_events(dev);

	if (busy || events != dev->eq_seen || (idle && !READ_ONCE(dev->eq_idle))) {
		WRITE_ONCE(dev->eq_idle, false);
		dev->eq_quiet = 0;
		dev->eq_seen = events;
	} else if (!idle && ++dev->eq_quiet == EQ_IDLE_LOOKS) {
		eqs_become_idle(dev);
	}
}

/* A round over many CQs is not interrupted */
static void eqs_look_again(struct erdma_dev *dev)
{
	bool rarely = dev->eq_quiet == EQ_IDLE_LOOKS && !dev->cq_walk.next;

	if (atomic_read(&dev->n_cq))
		queue_delayed_work(dev->eq_watcher, &dev->eq_look,
				   msecs_to_jiffies(rarely ? EQ_IDLE_MS : ERDMA_LOOK_MS));
}

static void eqs_look(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(to_delayed_work(work), struct erdma_dev, eq_look);
	bool busy;
	u32 i;

	if (erdma_is_lost(dev))
		return;
	busy = eq_look(dev, &dev->aeq, ERDMA_STAT_AEQ_LOST_IRQS);
	for (i = 0; i < dev->n_comp_eqs; i++)
		busy |= eq_look(dev, &dev->comp_eqs[i].eq, ERDMA_STAT_CEQ_LOST_IRQS);
	busy |= erdma_cqs_look(dev);
	eqs_check_gone(dev);
	eqs_count_quiet(dev, busy);
	eqs_look_again(dev);
}

/**
 * erdma_eqs_wake - no more rare looks
 * @dev: device
 *
 * For erdma_eqs_stir(). If the work runs just now it is queued for the time after that, and
 * notices.
 *
 * Context: any.
 */
void erdma_eqs_wake(struct erdma_dev *dev)
{
	WRITE_ONCE(dev->eq_idle, false);
	mod_delayed_work(dev->eq_watcher, &dev->eq_look, msecs_to_jiffies(ERDMA_LOOK_MS));
}

/* Serializes recoveries, which are the only ones to handle events without an interrupt */
static DEFINE_MUTEX(eq_recover_lock);

/* The vector of a ring; 0: it has none */
static int eq_irq(struct erdma_dev *dev, struct erdma_eq *eq)
{
	if (eq == &dev->aeq || eq == &dev->cmdq.eq)
		return dev->common_irq;
	return container_of(eq, struct erdma_ceq, eq)->irq;
}

/*
 * What the interrupt of this ring does, and like it with interrupts off: other vectors take
 * the same locks. Consumers schedule softirqs, which run at the end.
 */
static void eq_serve(struct erdma_dev *dev, struct erdma_eq *eq)
{
	unsigned long flags;

	local_bh_disable();
	local_irq_save(flags);
	if (eq == &dev->aeq)
		erdma_async_eq_irq(dev);
	else if (eq == &dev->cmdq.eq)
		erdma_cmdq_irq(&dev->cmdq);
	else
		ceq_irq(0, container_of(eq, struct erdma_ceq, eq));
	local_irq_restore(flags);
	local_bh_enable();
}

/* All that waits, at most a ring; then the doorbell, also for a ring that gives nothing */
static void eq_drain(struct erdma_dev *dev, struct erdma_eq *eq)
{
	s64 rung = atomic64_read(&eq->notifies), events;
	u32 done;

	for (done = 0; done < eq->depth; done += ERDMA_EQ_BUDGET) {
		events = atomic64_read(&eq->events);
		eq_serve(dev, eq);
		if (atomic64_read(&eq->events) - events < ERDMA_EQ_BUDGET)
			break;
		cond_resched();
	}
	if (atomic64_read(&eq->notifies) == rung)
		erdma_eq_arm(eq);
}

/**
 * erdma_eq_recover - handle the events of a ring without an interrupt, and arm it again
 * @dev: device whose vectors have their handlers
 * @eq: its AEQ, its command EQ, or a completion EQ that is ready
 * @events: entries handled
 * @unknown: of these, those that named an object that does not exist, or did not want it
 *
 * The vector is off meanwhile, so that the ring has one consumer. An interrupt that comes
 * then runs the handler afterwards.
 *
 * Context: process; waits for a handler that runs.
 */
void erdma_eq_recover(struct erdma_dev *dev, struct erdma_eq *eq, s64 *events, s64 *unknown)
{
	int irq = eq_irq(dev, eq);

	mutex_lock(&eq_recover_lock);
	if (irq)
		disable_irq(irq);
	*events = -atomic64_read(&eq->events);
	*unknown = -atomic64_read(&eq->unknown);
	eq_drain(dev, eq);
	*events += atomic64_read(&eq->events);
	*unknown += atomic64_read(&eq->unknown);
	if (irq)
		enable_irq(irq);
	mutex_unlock(&eq_recover_lock);
}

/**
 * erdma_eqs_watch - look after the event queues and the device as long as there are CQs
 * @dev: device with completion EQs
 *
 * Lost interrupts are repeated, lost completion events delivered. A device that has
 * left the bus, or whose events cannot be read any more, is lost. Costs four loads
 * per EQ and two per CQ that is armed every 50 ms, and two register reads a second.
 * The command queue needs none of this: who waits for a command looks.
 *
 * After a second without an event all of that happens once a second, until an event is
 * handled, a CQ is created, or the kernel arms one. How an application arms one is not
 * seen here: the first event that gets lost after a pause costs up to a second more.
 *
 * Context: any; to be called when a CQ was created.
 */
void erdma_eqs_watch(struct erdma_dev *dev)
{
	if (!atomic_read(&dev->n_cq))
		return;
	erdma_eqs_stir(dev);
	queue_delayed_work(dev->eq_watcher, &dev->eq_look, msecs_to_jiffies(ERDMA_LOOK_MS));
}

/**
 * erdma_comp_eqs_init - create a completion EQ on every vector but the first
 * @dev: vectors and command queue are ready
 *
 * Context: process.
 * Return: 0, -ENOMEM, or the error of a command or of request_irq().
 */
int erdma_comp_eqs_init(struct erdma_dev *dev)
{
	int err;

	dev->eq_watcher = alloc_workqueue("erdma-eq-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
					  pci_name(dev->pdev));
	if (!dev->eq_watcher)
		return -ENOMEM;
	INIT_DELAYED_WORK(&dev->eq_look, eqs_look);
	for (dev->n_comp_eqs = 0; dev->n_comp_eqs < dev->vectors - 1; dev->n_comp_eqs++) {
		err = ceq_init(dev, &dev->comp_eqs[dev->n_comp_eqs], dev->n_comp_eqs + 1);
		if (err) {
			erdma_comp_eqs_exit(dev);
			return err;
		}
	}
	return 0;
}

/**
 * erdma_comp_eqs_exit - destroy the completion EQs
 * @dev: no CQ exists any more
 *
 * If the device does not give a ring back, it is stopped before the ring
 * is freed; nothing but removal may follow then anyway. A ring that it may write
 * even so is leaked.
 *
 * Context: process. No handler runs on return.
 */
void erdma_comp_eqs_exit(struct erdma_dev *dev)
{
	bool may_free = true;
	u32 i;

	cancel_delayed_work_sync(&dev->eq_look);
	for (i = dev->n_comp_eqs; i--;)
		ceq_quiesce(dev, &dev->comp_eqs[i]);
	/* The handlers could start it, too */
	cancel_delayed_work_sync(&dev->eq_look);
	destroy_workqueue(dev->eq_watcher);
	for (i = dev->n_comp_eqs; i--;)
		if (dev->comp_eqs[i].at_device)
			may_free = false;
	if (!may_free)
		may_free = comp_eqs_take_back(dev);
	for (i = dev->n_comp_eqs; i--;)
		if (may_free || !dev->comp_eqs[i].at_device)
			erdma_eq_exit(&dev->comp_eqs[i].eq, &dev->pdev->dev, dev->dbrec_pool);
	dev->n_comp_eqs = 0;
}
