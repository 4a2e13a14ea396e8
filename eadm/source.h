/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where facts come from. A backend (source_kernel.c; a fake one in the tests)
 * finds the devices, carries the calls of include/uapi/erdma_diag.h and reads
 * counters. source.c stands between: it checks every reply, walks records and
 * keeps the time budget.
 *
 * Functions return 0 or a negative error number; -EPROTO means that a reply
 * broke the rules of the ABI.
 */
#ifndef EADM_SOURCE_H
#define EADM_SOURCE_H

#include <linux/types.h>
#include <stdbool.h>

#include "host.h"
#include "model.h"
#include "uapi/erdma_diag.h"

#define DEV_NAME_LEN	64
#define DEV_PATH_LEN	280
#define PROC_CGROUP_LEN	512

/**
 * enum dev_state - what is known of an adapter
 * @DEV_OK: RDMA device with a diagnostic node
 * @DEV_NO_NODE: RDMA device without one
 * @DEV_NO_RDMA: bound to a driver that made no RDMA device
 * @DEV_NO_DRIVER: adapter without a driver
 * @DEV_OTHER: no adapter, but an RDMA device of another driver
 */
enum dev_state {
	DEV_OK,
	DEV_NO_NODE,
	DEV_NO_RDMA,
	DEV_NO_DRIVER,
	DEV_OTHER,
};

/**
 * struct dev - an adapter, or an RDMA device of another driver
 * @next: next one
 * @name: RDMA device, "" without one
 * @index: RDMA index, -1 if unknown
 * @pci: dddd:bb:dd.f; "" for a device of another driver that has no PCI function
 * @driver: bound driver, "" if none; of another driver's device "" if unknown
 * @netdev: interface, "" if unknown
 * @node: path of the diagnostic node, "" without one
 * @rdev: its device number, 0 if unknown
 * @state: how usable it is
 * @err: why there is no node although the driver should have one; 0 if unknown
 * @ports: number of ports, of DEV_OTHER; an adapter has one
 * @file: of several files the number of the one that has it, from 0
 * @fd: of the node, -1 = not open
 * @info: ERDMA_DIAG_INFO, once open
 */
struct dev {
	struct dev *next;
	char name[DEV_NAME_LEN];
	long index;
	char pci[16];
	char driver[DEV_NAME_LEN];
	char netdev[DEV_NAME_LEN];
	char node[DEV_PATH_LEN];
	uint64_t rdev;
	enum dev_state state;
	int err;
	unsigned int ports;
	unsigned int file;
	int fd;
	struct erdma_diag_info info;
};

/**
 * struct dev_facts - what rdma netlink and sysfs know of a device
 * @driver_version: of the module, "" if unknown
 * @fw: firmware, "" if unknown
 * @node_guid: 0 if unknown
 * @link: 1 is up, 0 down, -1 unknown
 * @numa: NUMA node, -1 if unknown or none
 * @pci_rev: revision of the function, -1 if unknown
 * @n_qp: queue pairs, -1 if unknown
 * @n_cq: completion queues, ditto
 * @n_mr: memory regions, ditto
 * @n_pd: protection domains, ditto
 */
struct dev_facts {
	char driver_version[DEV_NAME_LEN];
	char fw[DEV_NAME_LEN];
	uint64_t node_guid;
	int link;
	int numa;
	int pci_rev;
	long n_qp;
	long n_cq;
	long n_mr;
	long n_pd;
};

/**
 * enum res_kind - objects that rdma netlink lists
 * @RES_QP: queue pairs
 * @RES_CQ: completion queues
 * @RES_MR: memory regions
 */
enum res_kind { RES_QP, RES_CQ, RES_MR };

/**
 * struct res - an object as rdma netlink shows it
 * @id: its number; -1 if only the RDMA core has one, as for a CQ of another driver
 * @core_id: number that the RDMA core gave a CQ or MR, which rdma(8) shows; -1 if unknown
 * @type: enum ib_qp_type
 * @state: enum ib_qp_state
 * @remote_qpn: QPN of the peer of a connected QP, -1 if unknown
 * @pdn: PD of a QP or MR, -1 if unknown
 * @send_cqn: CQ of a QP, ditto
 * @recv_cqn: CQ of a QP, ditto
 * @depth: entries of a CQ, -1 if unknown
 * @has_length: @length is known
 * @length: bytes of an MR
 * @has_iova: @iova is known
 * @iova: address of an MR
 * @lkey: local key of an MR, -1: the kernel did not show it
 * @rkey: remote key of an MR, ditto
 * @pid: owner, 0 if it is the kernel, or a process of another PID namespace
 * @comm: name of the owner, "" if unknown; of the kernel's it is known
 */
struct res {
	long id;
	long core_id;
	uint8_t type;
	uint8_t state;
	long remote_qpn;
	long pdn;
	long send_cqn;
	long recv_cqn;
	long depth;
	bool has_length;
	uint64_t length;
	bool has_iova;
	uint64_t iova;
	int64_t lkey;
	int64_t rkey;
	uint32_t pid;
	char comm[DEV_NAME_LEN];
};

#define PROC_FROZEN	'F'	/* with its control group; no letter of the kernel's */

/**
 * struct process - an owner of objects, as the host sees it
 * @comm: name, "" if unknown
 * @state: letter of /proc/PID/stat: R, S, D, T, t, Z ..., of its first thread, or PROC_FROZEN;
 *	0 if unknown
 * @threads: threads that there are, that one is counted also when it has ended; 0 if unknown
 * @utime: CPU time of all threads in user mode, in clock ticks
 * @stime: CPU time of all threads in the kernel, in clock ticks
 * @held_us: time that the CPU limits of its control group, and of those above it, have held back
 *	threads, summed over CPUs, in microseconds (cgroup v2); 0 if unknown
 * @cgroup: path of its control group (cgroup v2), "" if unknown
 * @pinned: VmPin of /proc/PID/status, "" if unknown: "16384 kB"
 * @limits: "Max locked memory" of /proc/PID/limits, "" if unknown
 * @net_ns: network namespace, 0 if unknown
 * @pid_ns: pid namespace, 0 if unknown
 */
struct process {
	char comm[32];
	char state;
	unsigned int threads;
	uint64_t utime;
	uint64_t stime;
	uint64_t held_us;
	char cgroup[PROC_CGROUP_LEN];
	char pinned[32];
	char limits[80];
	uint64_t net_ns;
	uint64_t pid_ns;
};

struct source;

typedef void (*res_fn)(void *arg, const struct res *res);
typedef void (*holder_fn)(void *arg, uint32_t pid, const char *comm);
typedef void (*counter_fn)(void *arg, const char *name, uint64_t value);

/**
 * struct source_ops - a backend
 * @kind: for the document: "kernel", "file" or "fake"
 * @fixed: what it has does not change: no call blocks, and a second one finds the same
 * @devices: fill @src->devs and @src->others
 * @open: open the node of @dev
 * @call: one call of the node; may block
 * @reset: reset the PCI function of a device; may block
 * @counters: hand all counters of a port to @fn
 * @counters_after: of a source that is fixed: the same as they were at the end of the time it is
 *	about. NULL: that is when @counters is called
 * @driver_version: version of the loaded module; -ENOENT: none is loaded, -ENODATA:
 *	it states none
 * @facts: fill @facts without the node; false if there is nothing but the node
 * @objects: hand the objects of a device that the caller may see to @fn, without the node
 * @process: look at an owner of objects, -ENOENT: there is none such. A source that is
 *	@fixed has it twice: as it was at first, and @newest
 * @addresses: number of IPv4 addresses of the interface; -ENODATA: not known
 * @pass: let time pass; NULL: it passes by itself
 * @lockdown: is the kernel locked down?
 * @no_module: is there certainly no module of the driver for the kernel that runs?
 *	Its release, as uname -r prints it, goes to @release.
 * @host: look at the host; -ENODATA: nothing is known of it. NULL: ditto
 * @irq_cpu: the CPU that an interrupt of the device goes to; -ERANGE: several, -ENODATA: not
 *	known. NULL: ditto
 * @holders: hand each process that has a file of the verbs of a device open to @fn; negative:
 *	these are not all, or it is not known. NULL: ditto
 * @moment: of a source that is fixed: contexts and owners are those of moment @n from now on,
 *	0: those of the time at which it was made. Nanoseconds since moment 1; -1: there is no
 *	such moment, and nothing changed. NULL: there are none
 * @real_ns: CLOCK_REALTIME
 * @mono_ns: CLOCK_MONOTONIC; NULL: that of this host
 * @close: end, or NULL
 */
struct source_ops {
	const char *kind;
	bool fixed;
	int (*devices)(struct source *src);
	int (*open)(struct source *src, struct dev *dev);
	int (*call)(struct source *src, struct dev *dev, unsigned int cmd, void *arg);
	int (*reset)(struct source *src, struct dev *dev);
	int (*counters)(struct source *src, struct dev *dev, unsigned int port,
			counter_fn fn, void *arg);
	int (*counters_after)(struct source *src, struct dev *dev, unsigned int port,
			      counter_fn fn, void *arg);
	int (*driver_version)(struct source *src, char *out, size_t size);
	bool (*facts)(struct source *src, const struct dev *dev, struct dev_facts *facts);
	int (*objects)(struct source *src, const struct dev *dev, enum res_kind kind,
		       res_fn fn, void *arg);
	int (*process)(struct source *src, const struct dev *dev, uint32_t pid, bool newest,
		       struct process *out);
	int (*addresses)(struct source *src, const struct dev *dev);
	void (*pass)(struct source *src, uint64_t ns);
	bool (*lockdown)(struct source *src);
	bool (*no_module)(struct source *src, char *release, size_t size);
	int (*host)(struct source *src, struct host *out);
	int (*irq_cpu)(struct source *src, const struct dev *dev, unsigned int irq);
	int (*holders)(struct source *src, const struct dev *dev, holder_fn fn, void *arg);
	int64_t (*moment)(struct source *src, const struct dev *dev, unsigned int n);
	uint64_t (*real_ns)(struct source *src);
	uint64_t (*mono_ns)(const struct source *src);
	void (*close)(struct source *src);
};

struct worker;

/**
 * struct source - a backend in use
 * @ops: backend
 * @pool: memory
 * @devs: adapters, filled by ops->devices
 * @others: RDMA devices of other drivers, ditto; a file has none
 * @netlink_err: why rdma netlink is of no use, 0 if it works
 * @timeout_ms: budget of one call
 * @no_hw: never make the device work
 * @port_only: counters of the port will do: those of the RDMA device are a file each
 * @chosen: a file for which objects were chosen: there were more
 * @pseudonyms: a file in which they stand for keys and addresses
 * @joined: several files, of several hosts
 * @nameless: of files in one of which addresses are hidden, or have pseudonyms of their own
 * @priv: of the backend
 * @worker: thread that makes the calls
 * @why: what was wrong with a reply, after -EPROTO
 */
struct source {
	const struct source_ops *ops;
	struct pool *pool;
	struct dev *devs;
	struct dev *others;
	int netlink_err;
	unsigned int timeout_ms;
	bool no_hw;
	bool port_only;
	bool chosen;
	bool pseudonyms;
	bool joined;
	bool nameless;
	void *priv;
	struct worker *worker;
	const char *why;
};

/* The backend that is linked in: source_kernel.c or tests/source_fake.c */
extern const struct source_ops source_backend;

/**
 * struct rec - a record of a reply
 * @type: ERDMA_DIAG_REC_*
 * @flags: ERDMA_DIAG_REC_F_*
 * @body: structure behind the header
 * @len: its bytes
 */
struct rec {
	uint16_t type;
	uint16_t flags;
	const uint8_t *body;
	uint32_t len;
};

/**
 * struct ring_data - entries of a ring
 * @data: all entries from slot 0 on; NULL if only the numbers were asked for
 * @depth: entries
 * @entry_size: bytes
 * @flags: ERDMA_DIAG_RING_*
 * @pi: before the first entry was read, if ERDMA_DIAG_RING_PI
 * @ci: ditto, if ERDMA_DIAG_RING_CI
 * @moved: how far PI went on until the last entry was read, modulo 2^16
 * @time_ns: CLOCK_MONOTONIC
 */
struct ring_data {
	uint8_t *data;
	uint32_t depth;
	uint32_t entry_size;
	uint32_t flags;
	uint32_t pi;
	uint32_t ci;
	uint32_t moved;
	uint64_t time_ns;
};

/**
 * struct snapshot_buf - where source_snapshot() puts records
 * @data: bytes, in the pool
 * @size: room
 */
struct snapshot_buf {
	uint8_t *data;
	uint32_t size;
};

void source_init(struct source *src, struct pool *pool);
bool source_close(struct source *src);
bool source_is_lost(const struct source *src);
uint64_t source_mono_ns(const struct source *src);
void source_pass(struct source *src, uint64_t ns);
int source_open_dev(struct source *src, struct dev *dev);
int source_call(struct source *src, struct dev *dev, unsigned int cmd, void *arg, size_t size);
int source_reset(struct source *src, struct dev *dev);
int source_list(struct source *src, struct dev *dev, uint32_t obj, uint32_t first, uint32_t last,
		void (*fn)(void *arg, uint32_t id, const struct rec *rec), void *arg);
int source_list_hw(struct source *src, struct dev *dev, struct erdma_diag_list *l, uint32_t last,
		   uint32_t n, void (*fn)(void *arg, uint32_t id, const struct rec *rec), void *arg);
int source_context(struct source *src, struct dev *dev, uint32_t obj, uint32_t id, bool hw,
		   const uint8_t **buf, uint32_t *len);
int source_snapshot(struct source *src, struct dev *dev, struct erdma_diag_snapshot *s,
		    struct snapshot_buf *b);
int source_ring(struct source *src, struct dev *dev, uint32_t ring, uint32_t id,
		struct ring_data *out);
int source_recover(struct source *src, struct dev *dev, struct erdma_diag_recover *r);
int source_debug(struct source *src, struct dev *dev, struct erdma_diag_debug *dbg);

int source_log(struct source *src, struct dev *dev, uint32_t kind, uint64_t *seq, uint64_t *lost,
	       void (*fn)(void *arg, uint32_t kind, const struct rec *rec), void *arg);

int rec_next(const uint8_t *buf, uint32_t len, uint32_t *pos, struct rec *rec, const char **why);
const struct rec *rec_find(const uint8_t *buf, uint32_t len, uint16_t type, struct rec *rec);
uint32_t rec_id(const struct rec *rec);
void rec_copy(const struct rec *rec, void *out, size_t size);

/* source_netlink.c */
struct nl_rdma;
struct nlmsghdr;
struct nl_rdma *nl_rdma_open(unsigned int timeout_ms, int *err);
void nl_rdma_close(struct nl_rdma *nl);
int nl_rdma_devices(struct nl_rdma *nl, void (*fn)(void *arg, uint32_t index, const char *name),
		    void *arg);
int nl_rdma_netdev(struct nl_rdma *nl, uint32_t index, char *name, size_t size);
int nl_rdma_chardev(struct nl_rdma *nl, uint32_t index, const char *type, char *name, size_t size,
		    uint64_t *rdev);
int nl_rdma_driver_id(struct nl_rdma *nl, uint32_t index);
int nl_rdma_counters(struct nl_rdma *nl, uint32_t index, uint32_t port, counter_fn fn, void *arg);

/* source_res.c: what netlink knows without the node */
struct nlattr;
int nl_parse_attrs(struct nlmsghdr *msg, struct nlattr **tb);
int nl_parse_entry(struct nlattr *attr, struct nlattr **tb);
int nl_rdma_ask(struct nl_rdma *nl, int op, int flags, uint32_t index, uint32_t port,
		int (*parse)(void *arg, struct nlmsghdr *msg), void *arg);
int nl_rdma_ports(struct nl_rdma *nl, uint32_t index, unsigned int *ports);
int nl_rdma_facts(struct nl_rdma *nl, uint32_t index, unsigned int ports, struct dev_facts *facts);
int nl_rdma_exclusive(struct nl_rdma *nl);
int nl_parse_exclusive(struct nlmsghdr *msg);
int nl_rdma_objects(struct nl_rdma *nl, uint32_t index, enum res_kind kind, res_fn fn, void *arg);
int nl_parse_facts(struct nlmsghdr *msg, struct dev_facts *facts);
int nl_parse_summary(struct nlmsghdr *msg, struct dev_facts *facts);
int nl_parse_objects(struct nlmsghdr *msg, enum res_kind kind, res_fn fn, void *arg);

int nl_parse_device(struct nlmsghdr *msg, uint32_t *index, char *name, size_t size);
int nl_parse_chardev(struct nlmsghdr *msg, char *name, size_t size, uint64_t *rdev);
int nl_parse_driver_id(struct nlmsghdr *msg, int *id);
int nl_parse_ports(struct nlmsghdr *msg, unsigned int *ports);
int nl_parse_counters(struct nlmsghdr *msg, counter_fn fn, void *arg);

#endif /* EADM_SOURCE_H */
