// SPDX-License-Identifier: GPL-2.0-or-later
/* Who may do what; namespaces; what happens when the adapter goes away. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag_abi.h"
#include "erdma/erdma_hw.h"
#include "nl_chardev.h"

static uint8_t buf[65536];

/* A QP of root's, for the eyes of others */
static struct own_qp other;

static struct erdma_diag_ring_read ring_arg(uint32_t ring, uint32_t id, uint32_t count)
{
	return (struct erdma_diag_ring_read){
		.size = sizeof(struct erdma_diag_ring_read), .ring = ring, .id = id,
		.count = count, .buf = (uintptr_t)buf, .buf_len = sizeof(buf),
	};
}

/* ---- what nobody sees through a file that it could open ---- */

static int nobodys_node = -1;

static bool open_by_nobody(void)
{
	nobodys_node = open(node_path, O_RDONLY | O_CLOEXEC);
	return nobodys_node >= 0;
}

static bool node_is_closed(void)
{
	struct stat st;

	EXPECT(!stat(node_path, &st) && (st.st_mode & 0777) == 0600 && !st.st_uid, "mode %o",
	       st.st_mode);
	EXPECT(open(node_path, O_RDONLY) < 0 && errno == EACCES, "nobody could open it");
	return true;
}

static bool node_is_closed_to_nobody(void)
{
	return as_nobody(node_is_closed);
}

static bool see_identity(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };
	struct erdma_diag_debug debug = { .size = sizeof(debug) };
	struct erdma_diag_recover recover = { .size = sizeof(recover), .obj = ERDMA_DIAG_OBJ_EQ };

	EXPECT(open_by_nobody(), "open");
	EXPECT(!call(nobodys_node, ERDMA_DIAG_INFO, &info), "info");
	EXPECT(info.max_qp && !(info.cap1 >> 32), "local DMA key %#llx",
	       (unsigned long long)(info.cap1 >> 32));
	EXPECT(!call(nobodys_node, ERDMA_DIAG_DEBUG, &debug), "levels");
	debug.flags = ERDMA_DIAG_DEBUG_SET;
	debug.mask = 1;
	EXPECT(call(nobodys_node, ERDMA_DIAG_DEBUG, &debug) == EPERM, "set");
	debug.flags = 0;
	EXPECT(call(nobodys_node, ERDMA_DIAG_DEBUG, &debug) == EINVAL, "set without the flag");
	EXPECT(call(nobodys_node, ERDMA_DIAG_RECOVER, &recover) == EPERM, "recover");
	return true;
}

static bool see_adapters_queues(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_EQ };
	struct erdma_diag_ring_read ring = ring_arg(ERDMA_DIAG_RING_EQ, ERDMA_DIAG_EQ_AEQ, 1);
	const struct erdma_diag_eq *eq;

	EXPECT(open_by_nobody(), "open");
	EXPECT(!list(nobodys_node, &arg, buf, sizeof(buf)) && arg.out_count, "EQs");
	eq = find_record(buf, arg.out_len, ERDMA_DIAG_REC_EQ);
	EXPECT(eq && eq->eq.depth && !eq->eq.dma && !eq->eq.dbrec_dma, "bus addresses");
	EXPECT(((struct erdma_diag_rec *)buf)->flags & ERDMA_DIAG_REC_F_HIDDEN, "not said");
	EXPECT(call(nobodys_node, ERDMA_DIAG_RING_READ, &ring) == EPERM, "event ring");
	ring.count = 0;
	EXPECT(!call(nobodys_node, ERDMA_DIAG_RING_READ, &ring) && ring.out_depth,
	       "indices of the event ring");
	ring = ring_arg(ERDMA_DIAG_RING_CMDQ_SQ, 0, 1);
	EXPECT(call(nobodys_node, ERDMA_DIAG_RING_READ, &ring) == EPERM, "command ring");
	return true;
}

static bool see_nothing_of_others(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	struct erdma_diag_context context = {
		.size = sizeof(context), .obj = ERDMA_DIAG_OBJ_QP, .id = other.qpn,
		.buf = (uintptr_t)buf, .buf_len = sizeof(buf),
	};
	struct erdma_diag_ring_read ring = ring_arg(ERDMA_DIAG_RING_SQ, other.qpn, 1);

	EXPECT(open_by_nobody(), "open");
	EXPECT(!list(nobodys_node, &arg, buf, sizeof(buf)), "list");
	EXPECT(!arg.out_count && !arg.more, "%u QPs", arg.out_count);
	arg.obj = ERDMA_DIAG_OBJ_CQ;
	EXPECT(!list(nobodys_node, &arg, buf, sizeof(buf)) && !arg.out_count, "CQs");
	EXPECT(call(nobodys_node, ERDMA_DIAG_CONTEXT, &context) == EPERM, "context");
	EXPECT(call(nobodys_node, ERDMA_DIAG_RING_READ, &ring) == EPERM, "send queue");
	ring.count = 0;
	EXPECT(call(nobodys_node, ERDMA_DIAG_RING_READ, &ring) == EPERM, "its indices");
	ring.count = 1;
	ring.ring = ERDMA_DIAG_RING_RQ;
	EXPECT(call(nobodys_node, ERDMA_DIAG_RING_READ, &ring) == EPERM, "receive queue");
	ring.ring = ERDMA_DIAG_RING_CQ;
	ring.id = other.cqn;
	EXPECT(call(nobodys_node, ERDMA_DIAG_RING_READ, &ring) == EPERM, "completion queue");
	return true;
}

static bool see_own_ring(int fd, const struct own_qp *own)
{
	struct erdma_diag_ring_read ring = ring_arg(ERDMA_DIAG_RING_RQ, own->qpn, 1);
	const struct erdma_rqe *rqe = (const void *)buf;
	int err = call(fd, ERDMA_DIAG_RING_READ, &ring);

	EXPECT(!err, "own ring: %s", strerror(err));
	EXPECT(rqe->addr && rqe->stag && !(ring.out_flags & ERDMA_DIAG_RING_HIDDEN),
	       "own keys are hidden");
	return true;
}

static bool see_own(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	const struct erdma_diag_qp *qp;
	struct own_qp own;
	bool good;

	EXPECT(open_by_nobody(), "open");
	EXPECT(own_qp_open(&own) && own_qp_post(&own, 1), "no QP");
	EXPECT(!list(nobodys_node, &arg, buf, sizeof(buf)) && arg.out_count == 1, "%u QPs",
	       arg.out_count);
	qp = find_record(buf, arg.out_len, ERDMA_DIAG_REC_QP);
	EXPECT(qp && qp->qpn == own.qpn, "another QP");
	EXPECT(!qp->sq.dma && !qp->sq.dbrec_dma, "bus addresses");
	good = see_own_ring(nobodys_node, &own);
	own_qp_close(&own);
	return good;
}

/* A second process of the same user: a debugger could attach, so it may look. */
static struct own_qp of_parent;

static bool see_parents_ring(void)
{
	return see_own_ring(nobodys_node, &of_parent);
}

static bool see_parents_metadata_only(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	struct erdma_diag_ring_read ring = ring_arg(ERDMA_DIAG_RING_RQ, of_parent.qpn, 1);

	EXPECT(!list(nobodys_node, &arg, buf, sizeof(buf)) && arg.out_count == 1, "%u QPs",
	       arg.out_count);
	EXPECT(call(nobodys_node, ERDMA_DIAG_RING_READ, &ring) == EPERM, "ring");
	return true;
}

static bool see_same_users(void)
{
	EXPECT(open_by_nobody(), "open");
	EXPECT(own_qp_open(&of_parent) && own_qp_post(&of_parent, 1), "no QP");
	EXPECT(in_child(see_parents_ring, false), "second process of the same user");
	prctl(PR_SET_DUMPABLE, 0);
	EXPECT(in_child(see_parents_metadata_only, false), "undumpable process");
	own_qp_close(&of_parent);
	return true;
}

bool nobody_may(bool (*fn)(void))
{
	bool good;

	if (chmod(node_path, 0666))
		return false;
	good = as_nobody(fn);
	chmod(node_path, 0600);
	return good;
}

static bool nobody_sees_identity(void)
{
	return nobody_may(see_identity);
}

static bool nobody_sees_adapters_queues(void)
{
	return nobody_may(see_adapters_queues);
}

static bool nobody_sees_nothing_of_others(void)
{
	bool good;

	EXPECT(own_qp_open(&other), "no QP");
	good = nobody_may(see_nothing_of_others);
	own_qp_close(&other);
	return good;
}

static bool nobody_sees_own(void)
{
	return nobody_may(see_own);
}

static bool nobody_sees_same_users(void)
{
	return nobody_may(see_same_users);
}

/* ---- the opener's and the caller's rights ---- */

static bool use_roots_file(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	struct erdma_diag_debug debug = { .size = sizeof(debug), .mask = 1,
					  .flags = ERDMA_DIAG_DEBUG_SET };
	struct erdma_diag_ring_read ring = ring_arg(ERDMA_DIAG_RING_EQ, ERDMA_DIAG_EQ_AEQ, 1);
	struct erdma_diag_recover recover = { .size = sizeof(recover), .obj = ERDMA_DIAG_OBJ_EQ };

	EXPECT(call(node, ERDMA_DIAG_DEBUG, &debug) == EPERM, "set");
	EXPECT(call(node, ERDMA_DIAG_RECOVER, &recover) == EPERM, "recover");
	EXPECT(call(node, ERDMA_DIAG_RING_READ, &ring) == EPERM, "ring");
	EXPECT(!list(node, &arg, buf, sizeof(buf)) && !arg.out_count, "QPs");
	return true;
}

static bool roots_file_gives_nobody_no_right(void)
{
	bool good;

	EXPECT(own_qp_open(&other), "no QP");
	good = as_nobody(use_roots_file);
	own_qp_close(&other);
	return good;
}

/* Nobody opens the node and hands the file to root. */
static int pair[2];

static bool open_and_send(void)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	if (!open_by_nobody())
		return false;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &nobodys_node, sizeof(int));
	return sendmsg(pair[1], &msg, 0) == 1;
}

static int receive_file(void)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(pair[0], &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

static bool nobodys_file_gives_root_no_right(void)
{
	struct erdma_diag_debug debug = { .size = sizeof(debug), .mask = 1,
					  .flags = ERDMA_DIAG_DEBUG_SET };
	struct erdma_diag_recover recover = { .size = sizeof(recover), .obj = ERDMA_DIAG_OBJ_EQ };
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	int fd;

	EXPECT(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	EXPECT(nobody_may(open_and_send), "nobody did not send a file");
	fd = receive_file();
	EXPECT(fd >= 0, "no file came");
	EXPECT(own_qp_open(&other), "no QP");
	EXPECT(call(fd, ERDMA_DIAG_DEBUG, &debug) == EPERM, "set");
	EXPECT(call(fd, ERDMA_DIAG_RECOVER, &recover) == EPERM, "recover");
	EXPECT(!list(fd, &arg, buf, sizeof(buf)) && !arg.out_count, "%u QPs", arg.out_count);
	own_qp_close(&other);
	close(fd);
	close(pair[0]);
	close(pair[1]);
	return true;
}

/* ---- namespaces ---- */

static bool look_from_pid_namespace(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP, .start_id = other.qpn };
	const struct erdma_diag_qp *qp;

	EXPECT(!list(node, &arg, buf, sizeof(buf)), "list");
	qp = find_record(buf, arg.out_len, ERDMA_DIAG_REC_QP);
	EXPECT(qp && qp->qpn == other.qpn, "not listed");
	EXPECT(!qp->owner.pid && !qp->owner.comm[0], "pid %u of another namespace", qp->owner.pid);
	EXPECT(qp->owner_more.flags == ERDMA_DIAG_OWNER_PID_NS, "flags %#x", qp->owner_more.flags);
	return true;
}

static bool enter_pid_namespace(void)
{
	EXPECT(!unshare(CLONE_NEWPID), "unshare: %s", strerror(errno));
	return in_child(look_from_pid_namespace, false);
}

static bool pids_are_those_of_the_callers_namespace(void)
{
	bool good;

	EXPECT(own_qp_open(&other), "no QP");
	good = in_child(enter_pid_namespace, false);
	own_qp_close(&other);
	return good;
}

static bool look_from_net_namespace_shared(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };

	EXPECT(!unshare(CLONE_NEWNET), "unshare: %s", strerror(errno));
	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "info");
	EXPECT(info.ib_name[0] && !info.netdev[0] && !info.netdev_ifindex,
	       "interface of another namespace");
	return true;
}

static bool look_from_net_namespace_exclusive(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };

	EXPECT(!unshare(CLONE_NEWNET), "unshare: %s", strerror(errno));
	EXPECT(call(node, ERDMA_DIAG_INFO, &info) == ENODEV, "info on an open file");
	EXPECT(open(node_path, O_RDONLY) < 0 && errno == ENODEV, "open: %s", strerror(errno));
	return true;
}

static bool interface_of_another_net_namespace_is_not_shown(void)
{
	return in_child(look_from_net_namespace_shared, false);
}

static bool adapter_of_another_net_namespace_is_not_there(void)
{
	bool good;

	/* The namespaces of earlier tests must be gone before this is allowed */
	for (int i = 0; i < 50; i++) {
		if (!system("rdma system set netns exclusive 2>/dev/null"))
			break;
		EXPECT(i < 49, "rdma system set netns exclusive");
		usleep(100000);
	}
	good = in_child(look_from_net_namespace_exclusive, false);
	for (int i = 0; i < 50; i++) {
		if (!system("rdma system set netns shared 2>/dev/null"))
			break;
		EXPECT(i < 49, "rdma system set netns shared");
		usleep(100000);
	}
	return good;
}

/* ---- finding the node ---- */

static bool rdma_netlink_names_the_node(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };
	struct nl_chardev dev = {};
	struct stat st;
	int err;

	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "info");
	EXPECT(!stat(node_path, &st), "stat");
	err = nl_get_chardev(info.ib_index, "erdma_diag", &dev);
	EXPECT(!err, "netlink: %s", strerror(err));
	EXPECT(dev.major == major(st.st_rdev) && dev.minor == minor(st.st_rdev), "device %u:%u",
	       dev.major, dev.minor);
	EXPECT(!strcmp(dev.name, "diag0") && dev.abi == 1, "name %s, ABI %u", dev.name, dev.abi);
	return true;
}

/* ---- removal ---- */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

static bool bind_adapter(const char *pci, bool bind)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/erdma/%s", bind ? "bind" : "unbind");
	if (!write_file(path, pci))
		return false;
	for (int i = 0; bind && i < 100 && access(node_path, F_OK); i++)
		usleep(50000);
	return !bind == !!access(node_path, F_OK);
}

static bool open_file_after_removal(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };
	union argument arg;
	struct pollfd file;
	int old;

	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "info");
	file = (struct pollfd){ .fd = node };
	EXPECT(!poll(&file, 1, 0), "an error before");
	EXPECT(bind_adapter((char *)info.pci, false), "unbind");
	EXPECT(poll(&file, 1, 0) == 1 && file.revents == (POLLERR | POLLHUP), "poll: %#x",
	       file.revents);
	for (int i = 0; i < N_COMMANDS; i++) {
		valid_argument(&commands[i], &arg);
		EXPECT(call(node, commands[i].cmd, &arg) == ENODEV, "%s", commands[i].name);
		EXPECT(call(node, commands[i].cmd, NULL) == ENODEV, "%s, bad", commands[i].name);
	}
	EXPECT(call(node, _IO(ERDMA_DIAG_IOC_TYPE, 99), &arg) == ENODEV, "unknown command");
	EXPECT(bind_adapter((char *)info.pci, true), "bind");

	old = node;
	node = open(node_path, O_RDONLY | O_CLOEXEC);
	EXPECT(node >= 0, "the node came back with another number");
	EXPECT(call(old, ERDMA_DIAG_INFO, &info) == ENODEV, "the old file lives again");
	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "the new file");
	close(old);
	return true;
}

static volatile bool stop;

/* Only success or ENODEV, however often the adapter goes away */
static void *hammer(void *result)
{
	static __thread uint8_t mine[65536];
	union argument arg;

	while (!stop) {
		int fd = open(node_path, O_RDONLY | O_CLOEXEC);
		int err = 0;

		for (int i = 0; fd >= 0 && !err && !stop && i < 1000; i++) {
			valid_argument(&commands[i % N_COMMANDS], &arg);
			if (commands[i % N_COMMANDS].cmd == ERDMA_DIAG_CONTEXT)
				arg.head.flags = ERDMA_DIAG_CONTEXT_HW;
			if (commands[i % N_COMMANDS].cmd == ERDMA_DIAG_LIST) {
				arg.list.obj = ERDMA_DIAG_OBJ_EQ;
				arg.list.buf = (uintptr_t)mine;
				arg.list.buf_len = sizeof(mine);
			}
			err = call(fd, commands[i % N_COMMANDS].cmd, &arg);
		}
		if (fd >= 0)
			close(fd);
		if (err && err != ENODEV)
			*(int *)result = err;
	}
	return NULL;
}

static bool removal_under_calls(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };
	int errs[3] = {};
	pthread_t t[3];
	bool good = true;

	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "info");
	stop = false;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, hammer, &errs[i]);
	for (int i = 0; good && i < 5; i++) {
		usleep(100000);
		good = bind_adapter((char *)info.pci, false) && bind_adapter((char *)info.pci, true);
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	close(node);
	node = open(node_path, O_RDONLY | O_CLOEXEC);
	EXPECT(good && node >= 0, "unbind or bind failed");
	for (int i = 0; i < 3; i++)
		EXPECT(!errs[i], "thread %d: %s", i, strerror(errs[i]));
	return true;
}

/* A page that nobody fills until asked to: a copy to it hangs */
static int hanging_page(uint8_t **page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	*page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (uintptr_t)*page;
	reg.range.len = 4096;
	if (fd < 0 || *page == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		return -1;
	return fd;
}

static void *list_into_page(void *page)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_EQ };

	return (void *)(intptr_t)list(node, &arg, page, 4096);
}

static bool removal_does_not_wait_for_user_memory(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };
	struct uffdio_zeropage zero = {};
	struct uffd_msg msg;
	uint8_t *page;
	pthread_t t;
	void *err;
	bool gone;
	int fd;

	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "info");
	fd = hanging_page(&page);
	EXPECT(fd >= 0, "userfaultfd: %s", strerror(errno));
	pthread_create(&t, NULL, list_into_page, page);
	EXPECT(read(fd, &msg, sizeof(msg)) == sizeof(msg), "the call did not touch the page");
	/* The call hangs in its copy to the page. Without the rule this hangs too. */
	gone = bind_adapter((char *)info.pci, false);
	zero.range.start = (uintptr_t)page;
	zero.range.len = 4096;
	ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	pthread_join(t, &err);
	close(fd);
	munmap(page, 4096);
	EXPECT(gone && bind_adapter((char *)info.pci, true), "unbind or bind failed");
	close(node);
	node = open(node_path, O_RDONLY | O_CLOEXEC);
	EXPECT(node >= 0 && !err, "the call: %s", strerror((intptr_t)err));
	return true;
}

/* Objects come and go under those who look at them */
static void *look(void *result)
{
	static __thread uint8_t mine[65536];
	union argument arg = {};

	for (uint32_t obj = 0; !stop; obj++) {
		struct erdma_diag_list l = { .obj = ERDMA_DIAG_OBJ_QP + obj % ERDMA_DIAG_OBJ_CM_ID };
		int err = list(node, &l, mine, sizeof(mine));
		const struct erdma_diag_qp *qp = find_record(mine, l.out_len, ERDMA_DIAG_REC_QP);

		if (!err && l.out_count && qp) {
			arg.ring = ring_arg(ERDMA_DIAG_RING_RQ, qp->qpn, 16);
			arg.ring.buf = (uintptr_t)mine;
			err = call(node, ERDMA_DIAG_RING_READ, &arg);
		}
		if (err && err != ENOENT)
			*(int *)result = err;
	}
	return NULL;
}

static bool objects_vanish_while_read(void)
{
	int errs[2] = {};
	struct own_qp own;
	pthread_t t[2];
	int n;

	stop = false;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, look, &errs[i]);
	for (n = 0; n < 150 && own_qp_open(&own); n++)
		own_qp_close(&own);
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	EXPECT(n == 150, "only %d QPs were made", n);
	for (int i = 0; i < 2; i++)
		EXPECT(!errs[i], "thread %d: %s", i, strerror(errs[i]));
	return true;
}

const struct tap_test rights_tests[] = {
	{ "node_is_closed_to_nobody", node_is_closed_to_nobody },
	{ "nobody_sees_identity", nobody_sees_identity },
	{ "nobody_sees_adapters_queues", nobody_sees_adapters_queues },
	{ "nobody_sees_nothing_of_others", nobody_sees_nothing_of_others },
	{ "nobody_sees_own", nobody_sees_own },
	{ "nobody_sees_same_users", nobody_sees_same_users },
	{ "roots_file_gives_nobody_no_right", roots_file_gives_nobody_no_right },
	{ "nobodys_file_gives_root_no_right", nobodys_file_gives_root_no_right },
	{ "pids_are_those_of_the_callers_namespace", pids_are_those_of_the_callers_namespace },
	{ "interface_of_another_net_namespace_is_not_shown",
	  interface_of_another_net_namespace_is_not_shown },
	{ "adapter_of_another_net_namespace_is_not_there",
	  adapter_of_another_net_namespace_is_not_there },
	{ "rdma_netlink_names_the_node", rdma_netlink_names_the_node },
	{ "objects_vanish_while_read", objects_vanish_while_read },
	{ "open_file_after_removal", open_file_after_removal },
	{ "removal_under_calls", removal_under_calls },
	{ "removal_does_not_wait_for_user_memory", removal_does_not_wait_for_user_memory },
};

const int n_rights_tests = sizeof(rights_tests) / sizeof(rights_tests[0]);
