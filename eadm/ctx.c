// SPDX-License-Identifier: GPL-2.0-or-later
/* One run of a command: what went wrong, which devices are meant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "clock.h"
#include "cmd.h"
#include "decode.h"

/* ---- problems ----------------------------------------------------------- */

/**
 * exit_of_errno - exit status for an error number
 * @err: positive error number
 *
 * Return: exit status.
 */
enum exit_code exit_of_errno(int err)
{
	switch (err) {
	case ENOENT:
	case ENODEV:
		return EX_NOT_FOUND;
	case EPERM:
	case EACCES:
		return EX_DENIED;
	case ENOTTY:
	case EOPNOTSUPP:
	case E2BIG:
	case ENODATA:
	case EROFS:
	case EPROTONOSUPPORT:
		return EX_UNSUPPORTED;
	case ETIMEDOUT:
	case EHOSTDOWN:
		return EX_NO_ANSWER;
	case EINTR:
		return EX_INTERRUPTED;
	}
	return EX_FAILED;
}

static struct problem *add_problem(struct ctx *c)
{
	struct problem *p = pool_alloc(&c->pool, sizeof(*p));

	if (c->last_problem)
		c->last_problem->next = p;
	else
		c->problems = p;
	c->last_problem = p;
	return p;
}

static int problem_v(struct ctx *c, enum exit_code code, int err, const char *object,
		     const char *hint, const char *fmt, va_list ap)
{
	struct problem *p = add_problem(c);

	p->exit = code;
	p->code = errno_name(err);
	p->object = object ? pool_strdup(&c->pool, object) : NULL;
	p->text = pool_vprintf(&c->pool, fmt, ap);
	p->hint = hint ? pool_strdup(&c->pool, hint) : NULL;
	return -err;
}

/**
 * ctx_problem_exit - report a problem with an exit status of its own
 * @c: run
 * @code: exit status
 * @err: positive error number
 * @object: what it is about, or NULL
 * @hint: what to do, or NULL
 * @fmt: as printf: what happened
 *
 * Return: -@err.
 */
int ctx_problem_exit(struct ctx *c, enum exit_code code, int err, const char *object,
		     const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_v(c, code, err, object, hint, fmt, ap);
	va_end(ap);
	return -err;
}

/**
 * ctx_problem - report a problem
 * @c: run
 * @err: positive error number; decides the exit status
 * @object: what it is about, or NULL
 * @hint: what to do, or NULL
 * @fmt: as printf: what happened
 *
 * Return: -@err.
 */
int ctx_problem(struct ctx *c, int err, const char *object, const char *hint,
		const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_v(c, exit_of_errno(err), err, object, hint, fmt, ap);
	va_end(ap);
	return -err;
}

/**
 * ctx_usage - report a wrong call
 * @c: run
 * @hint: what to do, or NULL
 * @fmt: as printf: what is wrong
 *
 * Return: -EINVAL.
 */
int ctx_usage(struct ctx *c, const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_v(c, EX_BAD_USAGE, EINVAL, NULL, hint, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/**
 * ctx_note - mention something that is no failure
 * @c: run
 * @code: symbolic name
 * @object: what it is about, or NULL
 * @fmt: as printf
 */
void ctx_note(struct ctx *c, const char *code, const char *object, const char *fmt, ...)
{
	struct problem *p = add_problem(c);
	va_list ap;

	va_start(ap, fmt);
	p->text = pool_vprintf(&c->pool, fmt, ap);
	va_end(ap);
	p->note = true;
	p->code = code;
	p->object = object ? pool_strdup(&c->pool, object) : NULL;
}

/**
 * ctx_now_ms - time for budgets
 *
 * Return: milliseconds of a clock that is never set.
 */
uint64_t ctx_now_ms(void)
{
#ifdef EADM_TEST
	const char *tick = getenv("EADM_FAKE_TICK_MS");
	static uint64_t ticks;

	if (tick)
		return ticks += strtoull(tick, NULL, 10);
#endif
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/**
 * ctx_add - add an object to the document
 * @c: run
 * @o: object
 */
void ctx_add(struct ctx *c, struct obj *o)
{
	list_add(&c->data, o);
	c->good++;
}

static enum exit_code exit_of_problems(const struct ctx *c)
{
	const struct problem *p;

	for (p = c->problems; p; p = p->next)
		if (!p->note)
			return c->good && p->exit != EX_INTERRUPTED ? EX_PARTIAL : p->exit;
	return EX_DONE;
}

/**
 * exit_with_data - is there a document of facts beside this exit status?
 * @code: exit status
 *
 * Return: true if there is; false: of an error.
 */
bool exit_with_data(enum exit_code code)
{
	return code == EX_DONE || code == EX_PARTIAL || code == EX_WARNING || code == EX_FAULT;
}

/**
 * ctx_exit - exit status of the run
 * @c: run
 *
 * Return: that of the first problem if nothing worked; what was found, if it is about health;
 * EX_PARTIAL if something worked, EX_DONE without problems.
 */
enum exit_code ctx_exit(const struct ctx *c)
{
	enum exit_code code = exit_of_problems(c);

	return c->found && exit_with_data(code) ? c->found : code;
}

/* ---- failed calls ------------------------------------------------------- */

static const struct {
	const char *word;
	const char *noun;
	const char *list;
	bool numbered;
} targets[] = {
	[TARGET_DEV] = { "dev", "device", "list dev", false },
	[TARGET_QP] = { "qp", "queue pair", "list qp", true },
	[TARGET_CQ] = { "cq", "completion queue", "list cq", true },
	[TARGET_EQ] = { "eq", "event queue", "list eq", true },
	[TARGET_CMDQ] = { "cmdq", "command queue", "info cmdq", false },
	[TARGET_DEBUG] = { "debug-level", "debug levels", "debug-level", false },
	[TARGET_STAT] = { "stat", "counters", "stat", false },
	[TARGET_MR] = { "mr", "memory region", "list mr", true },
	[TARGET_PD] = { "pd", "protection domain", "list pd", true },
	[TARGET_CTX] = { "ctx", "user context", "list ctx", true },
	[TARGET_CM] = { "cm", "connection", "list cm", true },
};

static const char *target_id(enum target t, uint32_t id, char buf[16])
{
	if (t == TARGET_EQ)
		return eq_name(id, buf);
	snprintf(buf, 16, "%u", id);
	return buf;
}

/**
 * target_path - name of an object for messages
 * @c: run
 * @dev: device
 * @t: what it is
 * @id: its number
 *
 * Return: "erdma_0/qp/99".
 */
const char *target_path(struct ctx *c, const struct dev *dev, enum target t, uint32_t id)
{
	char buf[16];

	if (t == TARGET_DEV)
		return pool_strdup(&c->pool, dev_title(dev));
	if (!targets[t].numbered)
		return pool_printf(&c->pool, "%s/%s", dev_title(dev), targets[t].word);
	return pool_printf(&c->pool, "%s/%s/%s", dev_title(dev), targets[t].word,
			   target_id(t, id, buf));
}

static const char *target_noun(struct ctx *c, enum target t, uint32_t id)
{
	char buf[16];

	if (!targets[t].numbered)
		return targets[t].noun;
	return pool_printf(&c->pool, "%s %s", targets[t].noun, target_id(t, id, buf));
}

static bool is_locked_down(struct ctx *c)
{
	return c->src.ops->lockdown && c->src.ops->lockdown(&c->src);
}

/* An adapter has no driver: how it gets one */
static const char *driver_hint(struct ctx *c)
{
	char release[128];

	if (c->src.ops->no_module && c->src.ops->no_module(&c->src, release, sizeof(release)))
		return pool_printf(&c->pool, "there is no module erdma for Linux %s: 'dkms status "
				   "erdma'. DKMS builds it from the kernel's headers: 'apt install "
				   "linux-headers-%s' or 'dnf install kernel-devel-%s'. A kernel "
				   "without CONFIG_INFINIBAND gets none.",
				   release, release, release);
	if (is_locked_down(c))
		return "modprobe erdma; the kernel is locked down (/sys/kernel/security/lockdown) "
		       "and takes only signed modules. If there is no /var/lib/dkms/mok.pub: "
		       "install openssl, reinstall erdma-dkms. Then: mokutil --import "
		       "/var/lib/dkms/mok.pub, reboot, enrol the key.";
	return "modprobe erdma; if that fails: dmesg | grep -i erdma";
}

static const char *denied_hint(struct ctx *c)
{
	if (is_locked_down(c) && !geteuid())
		return "the kernel is locked down (/sys/kernel/security/lockdown); this needs a "
		       "kernel without lockdown.";
	return "run as root, or with CAP_NET_ADMIN.";
}

/**
 * ctx_call_failed - report a failed call of the node or of netlink
 * @c: run
 * @dev: device
 * @err: negative error number
 * @t: what it was about
 * @id: number of that object
 *
 * Return: @err.
 */
int ctx_call_failed(struct ctx *c, const struct dev *dev, int err, enum target t, uint32_t id)
{
	const char *path = target_path(c, dev, t, id), *noun = target_noun(c, t, id);
	const char *name = dev_title(dev), *pre = "";

	if (t != TARGET_DEV)
		pre = pool_printf(&c->pool, "%s: ", noun);

	switch (-err) {
	case ENOENT:
		return ctx_problem(c, ENOENT, path,
				   pool_printf(&c->pool, "'eadm -d %s %s' shows the live numbers.",
					       name, targets[t].list), "no %s", noun);
	case EPERM:
	case EACCES:
		return ctx_problem(c, -err, path, denied_hint(c), "%spermission denied", pre);
	case ENODEV:
		return ctx_problem(c, ENODEV, path, "'eadm list dev' shows what is left.",
				   "%sthe device was removed", pre);
	case ENOTTY:
	case EOPNOTSUPP:
		return ctx_problem(c, -err, path,
				   pool_printf(&c->pool, "'eadm -d %s info dev' shows what the "
					       "driver offers.", name),
				   "%snot supported by this driver", pre);
	case ENODATA:
		return ctx_problem(c, ENODATA, path, "'eadm snapshot --write FILE', as root and "
				   "without --redact, takes everything.", "%snot in this file", pre);
	case EROFS:
		return ctx_problem(c, EROFS, path, NULL, "%sa file cannot be changed", pre);
	case E2BIG:
		return ctx_problem(c, E2BIG, path, "the driver is older than eadm; update it.",
				   "%snot supported by this driver", pre);
	case ETIMEDOUT:
		return ctx_problem(c, ETIMEDOUT, path,
				   pool_printf(&c->pool, "'eadm -d %s --no-hw info cmdq' shows the "
					       "command queue.", name),
				   "%sno answer in time", pre);
	case EBUSY:
	case EAGAIN:
		return ctx_problem(c, -err, path, "try again.",
				   "%sthe driver is busy with other diagnostics", pre);
	case EPROTO:
		return ctx_problem(c, EPROTO, path, "driver and eadm do not fit together; "
				   "update both.", "%smalformed reply: %s", pre,
				   c->src.why ? c->src.why : "an attribute is missing");
	}
	return ctx_problem(c, -err, path, NULL, "%s%s", pre, strerror(-err));
}

/**
 * ctx_ring_denied - report a ring that may not be read
 * @c: run
 * @dev: device
 * @err: negative error number
 * @t: what the ring belongs to
 * @id: its number
 * @owner: who made it, or NULL
 *
 * Return: @err.
 */
int ctx_ring_denied(struct ctx *c, const struct dev *dev, int err, enum target t, uint32_t id,
		    const struct erdma_diag_owner *owner)
{
	const char *noun = target_noun(c, t, id);

	if (!owner || !owner->pid)
		return ctx_problem(c, -err, target_path(c, dev, t, id), denied_hint(c),
				   "%s: its ring is not readable", noun);
	return ctx_problem(c, -err, target_path(c, dev, t, id),
			   "run as that user with ptrace rights, or with CAP_SYS_PTRACE.",
			   "%s belongs to pid %u; its ring is not readable", noun, owner->pid);
}

/**
 * note_hidden - say that a list left out what the caller may not see
 * @c: run
 * @dev: device
 * @t: kind of object
 * @seen: objects in the list
 * @n: objects there were a moment before
 *
 * The numbers may differ by objects that come and go, too.
 */
void note_hidden(struct ctx *c, const struct dev *dev, enum target t, uint32_t seen, uint32_t n)
{
	if (seen < n && (!seen || geteuid()))
		ctx_note(c, "HIDDEN", dev_title(dev), "%u of %u %ss are not shown: they belong to "
			 "others, and that needs CAP_NET_ADMIN", n - seen, n, targets[t].noun);
}

/* ---- devices ------------------------------------------------------------ */

/**
 * dev_title - how a device is called in messages
 * @dev: device
 *
 * Return: name of the RDMA device, else the PCI address.
 */
const char *dev_title(const struct dev *dev)
{
	return dev->name[0] ? dev->name : dev->pci;
}

/**
 * dev_wall_ns - a time of the driver as nanoseconds since 1970
 * @dev: device whose node is open
 * @mono_ns: CLOCK_MONOTONIC of the driver's host
 *
 * Return: CLOCK_REALTIME of that host.
 */
uint64_t dev_wall_ns(const struct dev *dev, uint64_t mono_ns)
{
	return dev->info.time_real_ns - dev->info.time_mono_ns + mono_ns;
}

static bool dev_matches(const struct dev *d, const char *want)
{
	uint32_t index;

	if (want[0] == '#')
		return parse_u32(want + 1, &index) && d->index == (long)index;
	return !strcmp(d->name, want) || !strcasecmp(d->pci, want) ||
	       (!strncmp(d->pci, "0000:", 5) && !strcasecmp(d->pci + 5, want)) ||
	       (d->netdev[0] && !strcmp(d->netdev, want));
}

static const char *join_devs(struct ctx *c, bool (*want)(const struct dev *))
{
	const char *s = "";
	struct dev *d;

	for (d = c->src.devs; d; d = d->next)
		if (!want || want(d))
			s = pool_printf(&c->pool, "%s%s%s", s, *s ? ", " : "", dev_title(d));
	return s;
}

/**
 * ctx_others - RDMA devices of other drivers, for messages
 * @c: run that knows the devices
 * @n: their number, or NULL
 *
 * Return: "mlx5_0, rxe0", "" without one.
 */
const char *ctx_others(struct ctx *c, unsigned int *n)
{
	const char *s = "";
	unsigned int i = 0;
	struct dev *d;

	for (d = c->src.others; d; d = d->next, i++)
		s = pool_printf(&c->pool, "%s%s%s", s, *s ? ", " : "", d->name);
	if (n)
		*n = i;
	return s;
}

static bool has_no_driver(const struct dev *d)
{
	return d->state == DEV_NO_DRIVER;
}

/**
 * dev_foreign - is a driver bound that has no diagnostics node?
 * @c: run
 * @d: device
 *
 * The RDMA device of the kernel's own driver may have no parent in sysfs: then it is not
 * known that the device belongs to the adapter. That module states no version; ours does.
 *
 * Return: "the driver 'erdma' (the kernel's own) has no diagnostic node", or NULL.
 */
const char *dev_foreign(struct ctx *c, const struct dev *d)
{
	char version[DEV_NAME_LEN];
	const char *which = "";
	int ret;

	if (d->state != DEV_NO_NODE && d->state != DEV_NO_RDMA)
		return NULL;
	ret = c->src.ops->driver_version(&c->src, version, sizeof(version));
	if (d->state == DEV_NO_RDMA && (!ret || strcmp(d->driver, "erdma")))
		return NULL;
	if (!strcmp(d->driver, "erdma"))
		which = !ret ? pool_printf(&c->pool, " (version %s)", version) :
			ret == -ENODATA || d->state == DEV_NO_RDMA ? " (the kernel's own)" : "";
	return pool_printf(&c->pool, "the driver '%s'%s has no diagnostic node", d->driver, which);
}

static int dev_without_node(struct ctx *c, const struct dev *d, const char *text)
{
	const char *works = d->state == DEV_NO_RDMA ? "of this one eadm "
			    "shows nothing." :
			    "only 'stat' and 'list dev' work without the node.";

	/* Its RDMA device, if there is one, is in the list of those of other drivers */
	if (d->state == DEV_NO_RDMA && *ctx_others(c, NULL))
		works = pool_printf(&c->pool, "of devices that are not the adapter's, %s, 'list' and "
				    "'stat' work.", ctx_others(c, NULL));

	return ctx_problem_exit(c, EX_NO_DRIVER, d->err ? d->err : ENODEV, dev_title(d),
				pool_printf(&c->pool, "load the erdma driver that comes with eadm: "
					    "'modinfo erdma' shows which one modprobe takes; %s",
					    works), "%s", text);
}

/* Why a device is of no use for a command that needs its node */
static int dev_unusable(struct ctx *c, const struct dev *d)
{
	const char *hint, *foreign = dev_foreign(c, d);

	switch (d->state) {
	case DEV_NO_DRIVER:
		return ctx_problem_exit(c, EX_NO_DRIVER, ENODEV, d->pci, driver_hint(c),
					"1 ERDMA adapter at %s, no driver bound", d->pci);
	case DEV_NO_RDMA:
		if (foreign)
			return dev_without_node(c, d, foreign);
		hint = strcmp(d->driver, "erdma") ?
		       "give the adapter back to the erdma driver: driver_override, then bind." :
		       pool_printf(&c->pool, "dmesg | grep %s", d->pci);
		return ctx_problem_exit(c, EX_NO_DRIVER, ENODEV, d->pci, hint,
					"adapter at %s is bound to driver '%s', which made no RDMA "
					"device", d->pci, d->driver);
	default:
		break;
	}
	if (c->src.netlink_err)
		return ctx_problem_exit(c, EX_NO_DRIVER, -c->src.netlink_err, d->name,
					"modprobe ib_core; then try again.",
					"rdma netlink is of no use: %s",
					strerror(-c->src.netlink_err));
	return dev_without_node(c, d, foreign ? foreign :
				pool_printf(&c->pool, "the driver '%s' has no diagnostic node",
					    d->driver));
}

/**
 * ctx_open_dev - open the node of a device
 * @c: run
 * @d: device that has one
 *
 * Return: 0, or a negative error number after reporting it.
 */
int ctx_open_dev(struct ctx *c, struct dev *d)
{
	int ret = source_open_dev(&c->src, d);

	if (!ret) {
		if (!c->driver)
			c->driver = pool_printf(&c->pool, "erdma %.*s", ERDMA_DIAG_DRV_VER_LEN,
						(const char *)d->info.driver_version);
		if (!c->time_ns)
			c->time_ns = d->info.time_real_ns;
		return 0;
	}
	if (d->fd >= 0)
		return ctx_call_failed(c, d, ret, TARGET_DEV, 0);
	if (ret == -EPERM || ret == -EACCES)
		return ctx_problem(c, -ret, d->name,
				   pool_printf(&c->pool, "run as root, or as a member of the group "
					       "of the node: ls -l %s", d->node),
				   "cannot open %s: %s", d->node, strerror(-ret));
	if (ret == -ENOENT || ret == -ENXIO)
		return ctx_problem_exit(c, EX_NO_DRIVER, -ret, d->name,
					"udevadm trigger --subsystem-match=erdma_diag",
					"the driver's node %s is not there", d->node);
	return ctx_problem(c, -ret, d->name, NULL, "cannot open %s: %s", d->node, strerror(-ret));
}

/* The node is not there, and rdma netlink knows the device */
static bool dev_falls_back(struct ctx *c, struct dev *d)
{
	struct dev_facts facts;
	int ret;

	if (d->state == DEV_OK) {
		ret = source_open_dev(&c->src, d);
		if (d->fd >= 0 || (ret != -ENOENT && ret != -ENXIO))
			return false;
	}
	return c->src.ops->facts(&c->src, d, &facts);
}

/* What the kernel offers of any RDMA device is not enough for a command */
static int dev_of_other_driver(struct ctx *c, const struct dev *d)
{
	return ctx_problem(c, EOPNOTSUPP, d->name, "of such a device there is what rdma netlink has: "
			   "'list dev', 'list qp', 'list cq', 'list mr', 'stat', 'metrics', "
			   "'top --by dev'.",
			   "a device of %s%s: this command needs the diagnostic node of the erdma "
			   "driver", d->driver[0] ? "the driver " : "another driver", d->driver);
}

static int dev_ready(struct ctx *c, struct dev *d, unsigned int flags)
{
	if (d->state == DEV_OTHER)
		return flags & DEVS_OTHERS ? 0 : dev_of_other_driver(c, d);
	if (flags & DEVS_ANY)
		return 0;
	if (d->state == DEV_NO_DRIVER || d->state == DEV_NO_RDMA)
		return dev_unusable(c, d);
	if (!(flags & DEVS_NODE) || (flags & DEVS_FALLBACK && dev_falls_back(c, d)))
		return 0;
	return d->state == DEV_OK ? ctx_open_dev(c, d) : dev_unusable(c, d);
}

/**
 * ctx_devices - find the adapters, if that was not done yet
 * @c: run
 *
 * Return: 0 or a negative error number.
 */
int ctx_devices(struct ctx *c)
{
	int ret = c->looked ? 0 : c->src.ops->devices(&c->src);

	if (ret)
		return ctx_problem(c, -ret, NULL, NULL, "cannot look for adapters: %s",
				   strerror(-ret));
	c->looked = true;
	return 0;
}

/**
 * ctx_forget_devices - look for the adapters again, with the next command's first device
 * @c: run; what its pool has of the devices is not used any more
 */
void ctx_forget_devices(struct ctx *c)
{
	struct dev *d;

	for (d = c->src.devs; d; d = d->next) {
		if (d->fd >= 0)
			close(d->fd);
		d->fd = -1;
	}
	c->src.devs = NULL;
	c->src.others = NULL;
	c->looked = false;
	c->driver = NULL;
}

static int several_devs(struct ctx *c)
{
	return ctx_usage(c, "choose one with -d, or set EADM_DEVICE; '-d all' takes them all.",
			 "there are several ERDMA devices: %s", join_devs(c, NULL));
}

/* Nothing but the command itself reads several files as one list */
static const char *devs_hint(struct ctx *c)
{
	if (!c->src.ops->fixed)
		return "'eadm list dev' shows the devices.";
	return pool_printf(&c->pool, "there is %s.", join_devs(c, NULL));
}

/* All adapters lie idle: say so once */
static bool all_without_driver(struct ctx *c)
{
	const struct dev *d;
	unsigned int n = 0;

	for (d = c->src.devs; d; d = d->next, n++)
		if (!has_no_driver(d))
			return false;
	if (n < 2)
		return false;
	ctx_problem_exit(c, EX_NO_DRIVER, ENODEV, NULL, driver_hint(c),
			 "%u ERDMA adapters at %s, no driver bound", n,
			 join_devs(c, has_no_driver));
	return true;
}

static int no_adapter(struct ctx *c)
{
	const char *others = ctx_others(c, NULL);

	return ctx_problem(c, ENODEV, NULL, *others ?
			   pool_printf(&c->pool, "this needs one. Of the RDMA devices of other "
				       "drivers, %s, there are 'list dev', 'stat', 'top --by dev'.",
				       others) :
			   "lspci -d 1ded:107f shows whether the machine has one.",
			   "no ERDMA adapter in this machine");
}

struct each {
	unsigned int flags;
	const char *want;
	int (*fn)(struct ctx *c, struct dev *dev, void *arg);
	void *arg;
	int first;
	bool found;
};

static void each_of(struct ctx *c, struct dev *d, struct each *e)
{
	int ret;

	for (; d; d = d->next) {
		if (e->want && !dev_matches(d, e->want))
			continue;
		e->found = true;
		ret = dev_ready(c, d, e->flags);
		if (!ret)
			ret = e->fn(c, d, e->arg);
		e->first = e->first ? e->first : ret;
	}
}

/**
 * ctx_each_dev - do something for every device that is meant
 * @c: run
 * @flags: DEVS_*
 * @fn: what to do; reports its problems itself
 * @arg: for @fn
 *
 * A device that fails does not keep the others from being asked. What -d names is an adapter if
 * there is one of this name, interface or address, else a device of another driver.
 *
 * Return: 0, or the first error.
 */
int ctx_each_dev(struct ctx *c, unsigned int flags,
		 int (*fn)(struct ctx *c, struct dev *dev, void *arg), void *arg)
{
	struct each e = { .flags = flags, .want = c->opt.device, .fn = fn, .arg = arg };
	int ret = ctx_devices(c);
	bool others;

	if (ret)
		return ret;
	if (e.want && !strcmp(e.want, "all"))
		e.want = NULL;
	else if (!e.want && !(flags & DEVS_MANY) && c->src.devs && c->src.devs->next)
		return several_devs(c);
	others = e.want || flags & DEVS_OTHERS;
	if (!c->src.devs && !(others && c->src.others))
		return no_adapter(c);
	if (!e.want && !(flags & DEVS_ANY) && all_without_driver(c))
		e.first = -ENODEV;
	else
		each_of(c, c->src.devs, &e);
	if (e.want ? !e.found : others)
		each_of(c, c->src.others, &e);
	if (e.found || !e.want)
		return e.first;
	return ctx_problem(c, ENODEV, e.want, devs_hint(c), "no ERDMA device '%s'", e.want);
}
