// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The diagnostics node /dev/erdma/diagN: its life and its dispatcher. The
 * rules of the interface are in docs/abi.md, its structures in
 * include/uapi/erdma_diag.h.
 *
 * The node is an ib_client of our own devices, so that it comes and goes with
 * the registration, follows a move to another net namespace, and is found over
 * rdma netlink (chardev type "erdma_diag"). When an adapter goes away the node
 * loses its pointer to it under the write lock: open files stay, every call
 * then gives -ENODEV.
 *
 * A handler never touches user memory. It fills a chunk of kernel memory that
 * the dispatcher copies out once the lock is released: a user's buffer may
 * take for ever to fault in, and must not delay a removal meanwhile.
 */
#include <linux/compat.h>
#include <linux/idr.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/nsproxy.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "compat/client_nl_info.h"
#include "compat/compat.h"
#include "erdma_diag_int.h"

#define DIAG_MAX_NODES	256

/* The user's buffer, of arguments that have one */
#define DIAG_BUF(name)									\
static struct erdma_diag_ubuf diag_##name##_buf(const void *arg)			\
{											\
	const struct erdma_diag_##name *a = arg;					\
											\
	return (struct erdma_diag_ubuf){ u64_to_user_ptr(a->buf), a->buf_len };		\
}

/* The reserved field, of arguments that have one */
#define DIAG_RSVD(name)									\
static u32 diag_##name##_rsvd(const void *arg)						\
{											\
	return ((const struct erdma_diag_##name *)arg)->rsvd;				\
}

DIAG_BUF(list)
DIAG_BUF(context)
DIAG_BUF(ring_read)
DIAG_BUF(snapshot)
DIAG_BUF(log)
DIAG_RSVD(ring_read)
DIAG_RSVD(log)
DIAG_RSVD(recover)

/* The time for asking the device: for those who ask, and bounded. Return: 0 = it is right. */
static u32 diag_budget_is_wrong(bool asks, u32 ms)
{
	return asks ? !ms || ms > ERDMA_DIAG_LIST_HW_MAX_MS : ms;
}

static u32 diag_list_rsvd(const void *arg)
{
	const struct erdma_diag_list *a = arg;

	return a->rsvd | diag_budget_is_wrong(a->flags & ERDMA_DIAG_LIST_HW, a->hw_budget_ms);
}

static u32 diag_snapshot_rsvd(const void *arg)
{
	const struct erdma_diag_snapshot *a = arg;

	return a->rsvd | diag_budget_is_wrong(a->flags & ERDMA_DIAG_SNAPSHOT_HW,
					      a->hw_budget_ms);
}

/* What DEBUG looks at only to set */
static u32 diag_debug_rsvd(const void *arg)
{
	const struct erdma_diag_debug *a = arg;

	return a->flags & ERDMA_DIAG_DEBUG_SET ? 0 : a->mask | a->level | a->duration_ms;
}

/*
 * One row: command, name of its structure and handler, last member of the first
 * version of the structure. That member stays when the structure grows.
 */
#define DIAG_OP(NAME, name, last, ...)						\
	[_IOC_NR(ERDMA_DIAG_##NAME)] = {					\
		.cmd = ERDMA_DIAG_##NAME,					\
		.size = sizeof(struct erdma_diag_##name),			\
		.min_size = offsetofend(struct erdma_diag_##name, last),	\
		.fn = erdma_diag_handle_##name,					\
		__VA_ARGS__							\
	}

/* Indexed by number */
static const struct erdma_diag_op diag_ops[] = {
	DIAG_OP(INFO, info, time_real_ns),
	DIAG_OP(LIST, list, rsvd, .flags = ERDMA_DIAG_LIST_HW, .buf = diag_list_buf,
		.rsvd = diag_list_rsvd),
	DIAG_OP(CONTEXT, context, time_ns, .flags = ERDMA_DIAG_CONTEXT_HW,
		.buf = diag_context_buf),
	DIAG_OP(RING_READ, ring_read, out_time_ns, .buf = diag_ring_read_buf,
		.rsvd = diag_ring_read_rsvd),
	DIAG_OP(DEBUG, debug, out_printed, .flags = ERDMA_DIAG_DEBUG_SET,
		.set_flags = ERDMA_DIAG_DEBUG_SET, .rsvd = diag_debug_rsvd),
	DIAG_OP(LOG, log, rsvd, .buf = diag_log_buf, .rsvd = diag_log_rsvd),
	DIAG_OP(SNAPSHOT, snapshot, out_end_ns,
		.flags = ERDMA_DIAG_SNAPSHOT_HW | ERDMA_DIAG_SNAPSHOT_RINGS,
		.buf = diag_snapshot_buf, .rsvd = diag_snapshot_rsvd),
	DIAG_OP(RECOVER, recover, rsvd, .sets = true, .rsvd = diag_recover_rsvd),
};

static_assert(ARRAY_SIZE(diag_ops) == ERDMA_DIAG_CMD_COUNT);

/* Every argument starts like this */
struct diag_head {
	u32 size;
	u32 flags;
};

union diag_arg {
	struct diag_head head;
	struct erdma_diag_info info;
	struct erdma_diag_list list;
	struct erdma_diag_context context;
	struct erdma_diag_ring_read ring_read;
	struct erdma_diag_debug debug;
	struct erdma_diag_log log;
	struct erdma_diag_snapshot snapshot;
	struct erdma_diag_recover recover;
};

static DEFINE_IDA(diag_minors);
/* Held while erdma_dev.diag is cleared or used outside of the client's calls */
static DEFINE_MUTEX(diag_lock);
static dev_t diag_base;

/* ---- dispatcher --------------------------------------------------------- */

/**
 * erdma_diag_find_op - look up a command
 * @cmd: number as the user gave it; all of its 32 bits must match
 *
 * Return: the command, or NULL.
 */
const struct erdma_diag_op *erdma_diag_find_op(unsigned int cmd)
{
	const struct erdma_diag_op *op;

	if (_IOC_NR(cmd) >= ARRAY_SIZE(diag_ops))
		return NULL;
	op = &diag_ops[array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(diag_ops))];
	return op->fn && op->cmd == cmd ? op : NULL;
}

/**
 * erdma_diag_check_size - judge the size of an argument
 * @op: command
 * @size: as the caller knows the argument
 *
 * Return: 0; -EINVAL: older than the first version; -E2BIG: absurd.
 */
int erdma_diag_check_size(const struct erdma_diag_op *op, size_t size)
{
	if (size < op->min_size)
		return -EINVAL;
	if (size > ERDMA_DIAG_MAX_SIZE)
		return -E2BIG;
	return 0;
}

/**
 * erdma_diag_check_arg - judge flags, reserved fields and the right to set
 * @op: command
 * @arg: kernel copy of the argument
 * @who: caller
 *
 * Return: 0; -EOPNOTSUPP: unknown flag; -EINVAL: reserved field not zero;
 * -EPERM: it changes something, and the caller may not.
 */
int erdma_diag_check_arg(const struct erdma_diag_op *op, const void *arg,
			 const struct erdma_diag_who *who)
{
	const struct diag_head *head = arg;

	if (head->flags & ~op->flags)
		return -EOPNOTSUPP;
	if (op->rsvd && op->rsvd(arg))
		return -EINVAL;
	if ((op->sets || head->flags & op->set_flags) &&
	    !erdma_diag_is_allowed(who, ERDMA_DIAG_SCOPE_SET, ERDMA_DIAG_REL_DEVICE))
		return -EPERM;
	return 0;
}

static bool diag_is_visible(const struct erdma_dev *dev)
{
	return rdma_dev_access_netns(&dev->ibdev, current->nsproxy->net_ns);
}

/* One run of the handler, with the adapter held */
static int diag_call(struct erdma_diag *diag, const struct erdma_diag_op *op,
		     struct erdma_diag_req *req)
{
	int ret = -ENODEV;

	if (down_read_killable(&diag->rwsem))
		return -EINTR;
	if (diag->edev && diag_is_visible(diag->edev))
		ret = op->fn(diag->edev, req);
	up_read(&diag->rwsem);
	return ret;
}

/* Run the handler until it is done, copy out what it produced in between */
static int diag_run(struct erdma_diag *diag, const struct erdma_diag_op *op,
		    struct erdma_diag_req *req, void __user *buf)
{
	int ret;

	do {
		req->chunk_len = 0;
		ret = diag_call(diag, op, req);
		if (ret < 0)
			break;
		if (copy_to_user(buf + req->copied, req->chunk, req->chunk_len))
			return -EFAULT;
		req->copied += req->chunk_len;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	} while (ret == ERDMA_DIAG_MORE);
	return ret;
}

static int diag_dispatch(struct erdma_diag_file *df, const struct erdma_diag_op *op,
			 union diag_arg *arg, const struct erdma_diag_who *who)
{
	struct erdma_diag_req req = { .diag = df->diag, .file = df, .who = who, .arg = arg };
	struct erdma_diag_ubuf buf = {};
	int ret;

	if (op->buf)
		buf = op->buf(arg);
	req.buf_len = buf.len;
	req.chunk_size = min_t(u32, req.buf_len, ERDMA_DIAG_CHUNK);
	if (req.chunk_size) {
		req.chunk = kvzalloc(req.chunk_size, GFP_KERNEL_ACCOUNT);
		if (!req.chunk)
			return -ENOMEM;
	}
	ret = diag_run(df->diag, op, &req, buf.addr);
	kvfree(req.state);
	kvfree(req.chunk);
	return ret;
}

static long diag_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	struct erdma_diag_file *df = file->private_data;
	void __user *user = (void __user *)uarg;
	const struct erdma_diag_op *op;
	struct erdma_diag_who who;
	union diag_arg arg;
	u32 size;
	int ret;

	if (!READ_ONCE(df->diag->edev))
		return -ENODEV;
	op = erdma_diag_find_op(cmd);
	if (!op)
		return -ENOTTY;

	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	ret = erdma_diag_check_size(op, size);
	if (ret)
		return ret;
	ret = copy_struct_from_user(&arg, op->size, user, size);
	if (ret)
		return ret;

	erdma_diag_who_init(&who, file);
	ret = erdma_diag_check_arg(op, &arg, &who);
	if (ret)
		return ret;
	ret = diag_dispatch(df, op, &arg, &who);
	if (ret && ret != -EMSGSIZE)
		return ret;

	arg.head.size = op->size;
	if (copy_to_user(user, &arg, min(op->size, size)))
		return -EFAULT;
	return ret;
}

static int diag_open(struct inode *inode, struct file *file)
{
	struct erdma_diag *diag = container_of(inode->i_cdev, struct erdma_diag, cdev);
	struct erdma_diag_file *df;
	bool ok;

	down_read(&diag->rwsem);
	ok = diag->edev && diag_is_visible(diag->edev);
	up_read(&diag->rwsem);
	if (!ok)
		return -ENODEV;

	df = kzalloc(sizeof(*df), GFP_KERNEL_ACCOUNT);
	if (!df)
		return -ENOMEM;
	get_device(&diag->dev);
	df->diag = diag;
	file->private_data = df;
	return nonseekable_open(inode, file);
}

static int diag_release(struct inode *inode, struct file *file)
{
	struct erdma_diag_file *df = file->private_data;

	put_device(&df->diag->dev);
	kfree(df);
	return 0;
}

static const struct file_operations diag_fops = {
	.owner = THIS_MODULE,
	.open = diag_open,
	.release = diag_release,
	.unlocked_ioctl = diag_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = erdma_diag_poll,
};

/* ---- life --------------------------------------------------------------- */

static char *diag_devnode(erdma_devnode_const struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0600;
	return kasprintf(GFP_KERNEL, "erdma/%s", dev_name(dev));
}

static void diag_free(struct device *dev)
{
	struct erdma_diag *diag = container_of(dev, struct erdma_diag, dev);

	erdma_rec_put(diag->rec);
	kfree(diag);
}

static struct class diag_class = {
	.name = "erdma_diag",
	.devnode = diag_devnode,
	.dev_release = diag_free,
};

static struct erdma_diag *diag_create(struct erdma_dev *edev)
{
	struct erdma_diag *diag;
	int ret;

	diag = kzalloc(sizeof(*diag), GFP_KERNEL);
	if (!diag)
		return ERR_PTR(-ENOMEM);
	device_initialize(&diag->dev);
	diag->dev.class = &diag_class;
	diag->dev.parent = edev->ibdev.dev.parent;
	init_rwsem(&diag->rwsem);
	atomic_set(&diag->hw_credits, ERDMA_DIAG_HW_CREDITS);
	init_waitqueue_head(&diag->hw_wait);
	diag->rec = erdma_rec_get(edev->rec);

	ret = edev->diag_minor;
	if (ret < 0)
		goto err_put;
	diag->dev.devt = MKDEV(MAJOR(diag_base), edev->diag_minor);
	ret = dev_set_name(&diag->dev, "diag%d", edev->diag_minor);
	if (ret)
		goto err_put;

	diag->edev = edev;
	cdev_init(&diag->cdev, &diag_fops);
	diag->cdev.owner = THIS_MODULE;
	ret = cdev_device_add(&diag->cdev, &diag->dev);
	if (ret)
		goto err_put;
	return diag;

err_put:
	put_device(&diag->dev);
	return ERR_PTR(ret);
}

/* The node vanishes; waits for running calls, not for open files. Idempotent. */
static void diag_unplug(struct erdma_diag *diag)
{
	bool plugged;

	down_write(&diag->rwsem);
	plugged = diag->edev;
	WRITE_ONCE(diag->edev, NULL);
	up_write(&diag->rwsem);
	if (!plugged)
		return;
	wake_up_all(erdma_rec_wait(diag->rec));
	cdev_device_del(&diag->cdev, &diag->dev);
}

static struct ib_client diag_client;

static int diag_client_add(struct ib_device *ibdev)
{
	struct erdma_diag *diag;
	struct erdma_dev *edev;

	if (ibdev->ops.owner != THIS_MODULE)
		return -EOPNOTSUPP;
	edev = dev_of(ibdev);

	diag = diag_create(edev);
	if (IS_ERR(diag)) {
		dev_err(&edev->pdev->dev, "no diagnostics node: %pe\n", diag);
		return PTR_ERR(diag);
	}
	edev->diag = diag;
	ib_set_client_data(ibdev, &diag_client, diag);
	return 0;
}

static void diag_client_remove(struct ib_device *ibdev, void *client_data)
{
	struct erdma_diag *diag = client_data;

	mutex_lock(&diag_lock);
	diag_unplug(diag);
	dev_of(ibdev)->diag = NULL;
	mutex_unlock(&diag_lock);
	put_device(&diag->dev);
}

/* The caller takes a reference before diag_client_remove() can run */
static int diag_client_nl_info(struct ib_device *ibdev, void *client_data,
			       struct ib_client_nl_info *res)
{
	struct erdma_diag *diag = client_data;

	if (!READ_ONCE(diag->edev))
		return -ENODEV;
	res->abi = ERDMA_DIAG_ABI;
	res->cdev = &diag->dev;
	return 0;
}

static struct ib_client diag_client = {
	.name = "erdma_diag",
	.add = diag_client_add,
	.remove = diag_client_remove,
	.get_nl_info = diag_client_nl_info,
	.no_kverbs_req = 1,
};

/**
 * erdma_diag_alloc_minor - reserve the number of an adapter's node
 *
 * The node returns under the same number after the loss of a device.
 *
 * Context: process.
 * Return: the number, for erdma_diag_free_minor(); -ENOSPC; -ENOMEM.
 */
int erdma_diag_alloc_minor(void)
{
	return ida_alloc_max(&diag_minors, DIAG_MAX_NODES - 1, GFP_KERNEL);
}

/**
 * erdma_diag_free_minor - undo erdma_diag_alloc_minor()
 * @minor: what it returned, which may be an error
 */
void erdma_diag_free_minor(int minor)
{
	if (minor >= 0)
		ida_free(&diag_minors, minor);
}

/**
 * erdma_diag_has_node - is the node there?
 * @dev: registered device
 *
 * The node was made when the device registered. Without it the device works.
 *
 * Return: true if it is.
 */
bool erdma_diag_has_node(const struct erdma_dev *dev)
{
	return dev->diag;
}

/**
 * erdma_diag_enter - begin a call of the node that comes from the driver itself
 * @dev: device
 *
 * Context: process; waits for a removal that has begun.
 * Return: node, which holds @dev, for erdma_diag_leave(); NULL: there is none (any more).
 */
struct erdma_diag *erdma_diag_enter(struct erdma_dev *dev)
{
	struct erdma_diag *diag;

	mutex_lock(&diag_lock);
	diag = dev->diag;
	if (diag)
		get_device(&diag->dev);
	mutex_unlock(&diag_lock);
	if (!diag)
		return NULL;
	down_read(&diag->rwsem);
	if (diag->edev)
		return diag;
	erdma_diag_leave(diag);
	return NULL;
}

/**
 * erdma_diag_leave - undo erdma_diag_enter()
 * @diag: node
 */
void erdma_diag_leave(struct erdma_diag *diag)
{
	up_read(&diag->rwsem);
	put_device(&diag->dev);
}

/**
 * erdma_diag_remove - let go of a device that is about to be unregistered
 * @dev: device, still registered
 *
 * Calls on open files give -ENODEV from now on. The node itself is freed by
 * the unregistration, or by the last close.
 */
void erdma_diag_remove(struct erdma_dev *dev)
{
	mutex_lock(&diag_lock);
	if (dev->diag)
		diag_unplug(dev->diag);
	mutex_unlock(&diag_lock);
}

/**
 * erdma_diag_module_init - class, device numbers, rdma client
 *
 * Return: 0 or -errno.
 */
int erdma_diag_module_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&diag_base, 0, DIAG_MAX_NODES, "erdma_diag");
	if (ret)
		return ret;
	ret = class_register(&diag_class);
	if (ret)
		goto err_region;
	ret = ib_register_client(&diag_client);
	if (ret)
		goto err_class;
	return 0;

err_class:
	class_unregister(&diag_class);
err_region:
	unregister_chrdev_region(diag_base, DIAG_MAX_NODES);
	return ret;
}

/**
 * erdma_diag_module_exit - undo erdma_diag_module_init()
 */
void erdma_diag_module_exit(void)
{
	ib_unregister_client(&diag_client);
	class_unregister(&diag_class);
	unregister_chrdev_region(diag_base, DIAG_MAX_NODES);
	ida_destroy(&diag_minors);
}
