/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tests of the verbs as kernel consumers use them.
 *
 * A group of checks is a function. It runs when its file in debugfs
 * (kverbs/NAME) is opened; the file then reads as TAP, one test.
 */
#ifndef KVERBS_H
#define KVERBS_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define KV_BUF_SIZE	(64 * 1024)
#define KV_IMM		0x11223344	/* no palindrome: shows a wrong byte order */
#define KV_MAX_SGE	6
#define KV_MAX_INLINE	96

/**
 * struct kv_side - one end of a connection
 * @id: endpoint with its QP
 * @pd: domain of everything here
 * @scq: completions of sends
 * @rcq: completions of receives
 * @mr: for fast registration
 * @buf: KV_BUF_SIZE bytes
 * @dma: address of @buf for the device
 * @events: completion events of both CQs
 */
struct kv_side {
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *scq;
	struct ib_cq *rcq;
	struct ib_mr *mr;
	u8 *buf;
	u64 dma;
	atomic_t events;
};

/**
 * struct kv_pair - a connection with both ends in this machine
 * @a: active end
 * @b: passive end
 * @listener: where @b came from
 * @done_a: something happened at @a
 * @done_b: @b is connected, or failed
 * @err_a: what happened at @a
 * @err_b: what happened at @b
 * @depth: send and receive requests of each QP
 * @sig_type: which sends complete
 */
struct kv_pair {
	struct kv_side a;
	struct kv_side b;
	struct rdma_cm_id *listener;
	struct completion done_a;
	struct completion done_b;
	int err_a;
	int err_b;
	u32 depth;
	enum ib_sig_type sig_type;
};

/* main.c */
__printf(4, 5) bool kv_result(bool good, const char *func, int line, const char *fmt, ...);
__printf(1, 2) void kv_say(const char *fmt, ...);
unsigned int kv_patience_ms(void);
unsigned int kv_hold_ms(void);
u32 kv_foreign_qpn(void);
struct rdma_cm_id *kv_bound_id(rdma_cm_event_handler handler, void *context, u16 port);

/* One check. Its value is the condition; the text says what was found instead. */
#define kv_check(cond, fmt, ...) \
	kv_result(cond, __func__, __LINE__, "%s: " fmt, #cond, ##__VA_ARGS__)

/* pair.c */
struct kv_pair *kv_open(u32 depth, enum ib_sig_type sig_type, bool connect);
void kv_close(struct kv_pair *p);
int kv_connect(struct kv_pair *p);
int kv_connect_again(struct kv_pair *p);
int kv_connect_as(struct kv_pair *p, u32 qpn);
int kv_get_wc(struct ib_cq *cq, struct ib_wc *wc);
bool kv_completes(const char *func, int line, struct ib_cq *cq, u64 wr_id,
		  enum ib_wc_status status, enum ib_wc_opcode opcode, struct ib_wc *wc);
bool kv_events(struct kv_side *s, int want);
int kv_post_recv(struct kv_side *s, u64 wr_id, u32 off, u32 len);
int kv_post_send(struct kv_side *s, enum ib_wr_opcode op, u64 wr_id, u32 len, int flags,
		 u32 extra);
int kv_post_rdma(struct kv_side *s, enum ib_wr_opcode op, u64 wr_id, u32 len,
		 struct ib_mr *remote, int flags);
int kv_post_reg(struct kv_side *s, u64 wr_id, u32 off, u32 len, int access);
enum ib_qp_state kv_qp_state(struct kv_side *s);
void kv_fill(u8 *buf, u32 len, u8 seed);

/* The next completion of @cq is that one. */
#define kv_good(cq, wr_id, opcode, wc) \
	kv_completes(__func__, __LINE__, cq, wr_id, IB_WC_SUCCESS, opcode, wc)
#define kv_fails(cq, wr_id, status, wc) \
	kv_completes(__func__, __LINE__, cq, wr_id, status, 0, wc)

int kv_client_init(void);
void kv_client_exit(void);

/* The groups */
void kv_sends(struct ib_device *dev);
void kv_memory(struct ib_device *dev);
void kv_atomics(struct ib_device *dev);
void kv_revoked(struct ib_device *dev);
void kv_wrap(struct ib_device *dev);
void kv_full(struct ib_device *dev);
void kv_refused(struct ib_device *dev);
void kv_chain(struct ib_device *dev);
void kv_armed(struct ib_device *dev);
void kv_untaken(struct ib_device *dev);
void kv_solicited(struct ib_device *dev);
void kv_unconnected(struct ib_device *dev);
void kv_reset(struct ib_device *dev);
void kv_owner(struct ib_device *dev);
void kv_disconnect(struct ib_device *dev);
void kv_destroy(struct ib_device *dev);
void kv_drain(struct ib_device *dev);
void kv_drain_once(struct ib_device *dev);
void kv_create(struct ib_device *dev);
void kv_ladder(struct ib_device *dev);
void kv_cost(struct ib_device *dev);
void kv_qp_limits(struct ib_device *dev);
void kv_cq_limits(struct ib_device *dev);
void kv_mr_limits(struct ib_device *dev);

#endif
