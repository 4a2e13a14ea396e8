// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The groups of checks, and their files in debugfs.
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>

#include "kverbs.h"

#define TEXT_SIZE	4096
#define MAX_COMPLAINTS	12

static char *address = "10.77.0.1";
module_param(address, charp, 0444);
MODULE_PARM_DESC(address, "IPv4 address of the device's interface");

static uint patience_ms = 10000;
module_param(patience_ms, uint, 0644);
MODULE_PARM_DESC(patience_ms, "how long to wait for what must happen");

static uint hold_ms;
module_param(hold_ms, uint, 0644);
MODULE_PARM_DESC(hold_ms, "how long \"owner\" has an idle QP for others to try, and \"untaken\" waits");

static uint foreign_qpn;
module_param(foreign_qpn, uint, 0644);
MODULE_PARM_DESC(foreign_qpn, "QP of a process for the group \"owner\" to try, 0: none");

/**
 * struct kv_group - some checks
 * @name: of the file
 * @title: of the test
 * @run: does the checks
 * @text: result of the last run
 */
struct kv_group {
	const char *name;
	const char *title;
	void (*run)(struct ib_device *dev);
	char text[TEXT_SIZE];
};

static struct kv_group groups[] = {
	{ "sends", "sends of every length, inline or not, with immediate", kv_sends },
	{ "memory", "fast registration, write, read, both ways to invalidate", kv_memory },
	{ "atomics", "atomics, and write with immediate", kv_atomics },
	{ "revoked", "a revoked key is refused", kv_revoked },
	{ "wrap", "requests of every size past 65536 blocks", kv_wrap },
	{ "full", "full queues refuse, and go on later", kv_full },
	{ "refused", "bad requests are refused", kv_refused },
	{ "chain", "requests before a bad one are carried out", kv_chain },
	{ "armed", "an armed CQ gives one event", kv_armed },
	{ "untaken", "completions may wait for their consumer", kv_untaken },
	{ "solicited", "an event for solicited completions only", kv_solicited },
	{ "unconnected", "a QP that was never connected", kv_unconnected },
	{ "reset", "a QP that was reset is as good as a new one", kv_reset },
	{ "owner", "a QP is connected through its own endpoint", kv_owner },
	{ "disconnect", "a disconnected QP flushes", kv_disconnect },
	{ "destroy", "connections with work are destroyed", kv_destroy },
	{ "drain", "ib_drain_qp", kv_drain },
	{ "drain-once", "ib_drain_qp, once", kv_drain_once },
	{ "create", "one object of each kind", kv_create },
	{ "ladder", "each allocation of the creation of each object fails", kv_ladder },
	{ "cost", "posting and polling between marks", kv_cost },
	{ "qp-limits", "limits of QPs", kv_qp_limits },
	{ "cq-limits", "limits of CQs", kv_cq_limits },
	{ "mr-limits", "limits of regions", kv_mr_limits },
};

static DEFINE_MUTEX(lock);		/* one group at a time: all below */
static struct kv_group *current_group;
static size_t text_len;
static unsigned int good_checks;
static unsigned int bad_checks;
static u16 last_port = 30000;
static struct dentry *dir;

/**
 * kv_say - adds to the text of the group that runs
 * @fmt: whole lines of TAP
 */
void kv_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_len += vscnprintf(current_group->text + text_len, TEXT_SIZE - text_len, fmt, args);
	va_end(args);
}

/**
 * kv_result - counts a check
 * @good: it passed
 * @func: where
 * @line: where
 * @fmt: shown when it did not
 *
 * Return: @good.
 */
bool kv_result(bool good, const char *func, int line, const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	if (good) {
		good_checks++;
		return true;
	}
	if (bad_checks++ >= MAX_COMPLAINTS)
		return false;

	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	kv_say("# %s:%d: %pV\n", func, line, &vaf);
	pr_err("kverbs: %s: %s:%d: %pV\n", current_group->name, func, line, &vaf);
	va_end(args);
	return false;
}

/**
 * kv_patience_ms - how long to wait for what must happen
 *
 * A group that has failed already must not wait for each of its hundreds of
 * completions.
 *
 * Return: milliseconds.
 */
unsigned int kv_patience_ms(void)
{
	return bad_checks < 3 ? READ_ONCE(patience_ms) : 20;
}

/**
 * kv_hold_ms - how long others may try to get an idle QP, and a completion waits
 *
 * Return: milliseconds.
 */
unsigned int kv_hold_ms(void)
{
	return READ_ONCE(hold_ms);
}

/**
 * kv_foreign_qpn - the QP of a process
 *
 * Return: its number, 0: there is none.
 */
u32 kv_foreign_qpn(void)
{
	return READ_ONCE(foreign_qpn);
}

/**
 * kv_bound_id - new endpoint at the device's address
 * @handler: of its events
 * @context: of the endpoint
 * @port: TCP port, 0: any that was not used before
 *
 * Return: the endpoint, or an error pointer.
 */
struct rdma_cm_id *kv_bound_id(rdma_cm_event_handler handler, void *context, u16 port)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(port ?: ++last_port),
		.sin_addr.s_addr = in_aton(address),
	};
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(&init_net, handler, context, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	err = rdma_bind_addr(id, (struct sockaddr *)&sin);
	if (!err)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(err);
}

static int no_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

static void run(struct kv_group *group)
{
	struct rdma_cm_id *id;
	const char *verdict;

	current_group = group;
	text_len = 0;
	good_checks = 0;
	bad_checks = 0;

	/* Keeps the device while the group runs */
	id = kv_bound_id(no_event, NULL, 0);
	if (!kv_check(!IS_ERR(id), "%d", PTR_ERR_OR_ZERO(id)) ||
	    !kv_check(id->device, "no device has the address %s", address)) {
		verdict = "not ok";
	} else {
		group->run(id->device);
		verdict = bad_checks || good_checks <= 2 ? "not ok" : "ok";
	}
	if (!IS_ERR(id))
		rdma_destroy_id(id);
	kv_say("%s 1 - %s: %u of %u checks good\n", verdict, group->title, good_checks,
	       good_checks + bad_checks);
}

static int group_show(struct seq_file *m, void *v)
{
	struct kv_group *group = m->private;

	seq_printf(m, "1..1\n%s", group->text);
	return 0;
}

static int group_open(struct inode *inode, struct file *file)
{
	int err;

	err = mutex_lock_interruptible(&lock);
	if (err)
		return err;
	run(inode->i_private);
	mutex_unlock(&lock);
	return single_open(file, group_show, inode->i_private);
}

static const struct file_operations group_fops = {
	.owner = THIS_MODULE,
	.open = group_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init kverbs_init(void)
{
	int i, err;

	err = kv_client_init();
	if (err)
		return err;
	dir = debugfs_create_dir("kverbs", NULL);
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		debugfs_create_file(groups[i].name, 0400, dir, &groups[i], &group_fops);
	if (!IS_ERR(dir))
		return 0;
	kv_client_exit();
	return PTR_ERR(dir);
}

static void __exit kverbs_exit(void)
{
	debugfs_remove_recursive(dir);
	kv_client_exit();
}

module_init(kverbs_init);
module_exit(kverbs_exit);
MODULE_DESCRIPTION("Tests of the verbs for kernel consumers");
MODULE_LICENSE("Dual BSD/GPL");
