/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Registers, event rings, command transport and commands: what the driver says
 * to the device and how. Included through erdma.h.
 */
#ifndef ERDMA_TRANSPORT_H
#define ERDMA_TRANSPORT_H

/* ---- erdma_mmio.c: registers -------------------------------------------- */

/**
 * struct erdma_mmio_ops - how to reach BAR0: the real one, or a fake in KUnit
 * @read32: read a 32-bit register
 * @write32: write a 32-bit register
 * @write64: write a 64-bit register or doorbell
 * @present: does the function answer in configuration space? Any context
 * @stop_master: disable bus mastering. Process context. Returns true if the function
 *	confirms, or is not there
 */
struct erdma_mmio_ops {
	u32 (*read32)(void *ctx, u32 off);
	void (*write32)(void *ctx, u32 off, u32 value);
	void (*write64)(void *ctx, u32 off, u64 value);
	bool (*present)(void *ctx);
	bool (*stop_master)(void *ctx);
};

/**
 * struct erdma_mmio - BAR0
 * @ops: access functions
 * @ctx: their first argument
 * @pdev: PCI function, NULL with a fake
 * @bar: mapping of BAR0, NULL with a fake; the data path rings here directly
 * @phys: bus address of BAR0, for mmap of doorbell pages
 * @len: bytes
 * @unconfirmed: the latest erdma_stop_dma() saw no reset
 */
struct erdma_mmio {
	const struct erdma_mmio_ops *ops;
	void *ctx;
	struct pci_dev *pdev;
	void __iomem *bar;
	phys_addr_t phys;
	resource_size_t len;
	bool unconfirmed;
};

/**
 * erdma_read32 - read a register of 32 bits
 * @m: BAR0
 * @off: offset in BAR0
 *
 * Context: any.
 * Return: its value.
 */
static inline u32 erdma_read32(const struct erdma_mmio *m, u32 off)
{
	return m->ops->read32(m->ctx, off);
}

/**
 * erdma_write32 - write a register of 32 bits
 * @m: BAR0
 * @off: offset in BAR0
 * @value: value
 *
 * Context: any.
 */
static inline void erdma_write32(const struct erdma_mmio *m, u32 off, u32 value)
{
	m->ops->write32(m->ctx, off, value);
}

/**
 * erdma_write64 - write a register of 64 bits or ring a doorbell
 * @m: BAR0
 * @off: offset in BAR0
 * @value: value
 *
 * Context: any.
 */
static inline void erdma_write64(const struct erdma_mmio *m, u32 off, u64 value)
{
	m->ops->write64(m->ctx, off, value);
}

int erdma_mmio_init(struct erdma_mmio *m, struct pci_dev *pdev);
void erdma_mmio_exit(struct erdma_mmio *m, struct pci_dev *pdev);
bool erdma_device_is_gone(const struct erdma_mmio *m);
int erdma_reset_device(const struct erdma_mmio *m);
int erdma_reset_leftover(const struct erdma_mmio *m, bool unconfirmed);
bool erdma_stop_dma(struct erdma_mmio *m);
int erdma_wait_init(const struct erdma_mmio *m);

/* ---- erdma_eq_ring.c: event rings ---------------------------------------- */

/**
 * struct erdma_eq - one event ring in host memory
 * @mmio: BAR0
 * @buf: entries, 16 bytes each
 * @dma: bus address of @buf
 * @dbrec: doorbell record
 * @dbrec_dma: its bus address
 * @depth: entries
 * @db: offset of the doorbell in BAR0
 * @ci: consumer index, free-running; the doorbell carries its low 16 bits.
 *	Written by the interrupt handler only, or by erdma_eq_recover() in its place
 * @empty: handler runs in a row that found nothing
 * @waiting: the last look found an entry at @waiting_ci that no handler had taken
 * @waiting_ci: see @waiting
 * @hidden: the last look found an entry behind the one at @hidden_ci, which was not
 *	written
 * @hidden_ci: see @hidden
 * @events: entries consumed
 * @interrupts: handler runs
 * @served: of these, those that found entries
 * @lost_irqs: entries whose interrupt was lost
 * @notifies: doorbells rung
 * @unknown: entries naming an object that does not exist
 * @by_type: AEQ: entries per enum erdma_ae_type, [5] = other types
 */
struct erdma_eq {
	const struct erdma_mmio *mmio;
	void *buf;
	dma_addr_t dma;
	__le64 *dbrec;
	dma_addr_t dbrec_dma;
	u32 depth;
	u32 db;
	u32 ci;
	u32 empty;
	bool waiting;
	u32 waiting_ci;
	bool hidden;
	u32 hidden_ci;
	atomic64_t events;
	atomic64_t interrupts;
	atomic64_t served;
	atomic64_t lost_irqs;
	atomic64_t notifies;
	atomic64_t unknown;
	atomic64_t by_type[8];
};

int erdma_eq_init(struct erdma_eq *eq, struct device *dma_dev, struct dma_pool *dbrec_pool,
		  const struct erdma_mmio *mmio, u32 depth, u32 db);
void erdma_eq_exit(struct erdma_eq *eq, struct device *dma_dev, struct dma_pool *dbrec_pool);
bool erdma_eq_next(struct erdma_eq *eq, void *entry);
void erdma_eq_arm(struct erdma_eq *eq);
void erdma_eq_rearm(struct erdma_eq *eq, bool found);
bool erdma_eq_look(struct erdma_eq *eq);
bool erdma_eq_is_hidden(struct erdma_eq *eq);

/* ---- erdma_eq.c: asynchronous and completion events ---------------------- */

/* Milliseconds between two looks for lost interrupts and events, of which one costs two */
#define ERDMA_LOOK_MS	50

/**
 * struct erdma_ceq - a completion EQ with its vector
 * @dev: device
 * @eq: ring
 * @eqn: 1..31, also the MSI-X vector
 * @irq: Linux interrupt number
 * @at_device: the device may use the ring
 * @ready: created at the device, handler installed
 * @name: interrupt name
 * @affinity: CPU hint
 */
struct erdma_ceq {
	struct erdma_dev *dev;
	struct erdma_eq eq;
	u32 eqn;
	int irq;
	bool at_device;
	bool ready;
	char name[40];
	cpumask_t affinity;
};

int erdma_async_eq_init(struct erdma_dev *dev);
void erdma_async_eq_exit(struct erdma_dev *dev);
void erdma_async_eq_irq(struct erdma_dev *dev);
int erdma_comp_eqs_init(struct erdma_dev *dev);
void erdma_comp_eqs_exit(struct erdma_dev *dev);
void erdma_eqs_watch(struct erdma_dev *dev);
void erdma_eqs_wake(struct erdma_dev *dev);
void erdma_eq_recover(struct erdma_dev *dev, struct erdma_eq *eq, s64 *events, s64 *unknown);

/* ---- erdma_cmdq_setup.c, erdma_cmdq.c: command transport ---------------- */

/**
 * enum erdma_cmd_state - life of a command context; 0 = free
 * @ERDMA_CMD_UNUSED: may be taken
 * @ERDMA_CMD_SUBMITTED: the device has it, a waiter waits
 * @ERDMA_CMD_DONE: answered; the waiter has not looked yet
 * @ERDMA_CMD_QUARANTINED: the waiter gave up; the late answer frees it, or its
 *	slot of the ring being used again, or a reset of the device
 */
enum erdma_cmd_state {
	ERDMA_CMD_UNUSED = 0,
	ERDMA_CMD_SUBMITTED,
	ERDMA_CMD_DONE,
	ERDMA_CMD_QUARANTINED,
};

/**
 * enum erdma_cmd_outcome - what became of a command. The error code does not show
 *	it: -ENODEV and -ETIMEDOUT stand for commands that were sent and not sent
 * @ERDMA_CMD_NOT_SENT: the device never saw it
 * @ERDMA_CMD_ANSWERED: the device is done with it; the status is known
 * @ERDMA_CMD_UNANSWERED: the device has it and may carry it out at any time until
 *	it is reset
 */
enum erdma_cmd_outcome {
	ERDMA_CMD_NOT_SENT = 0,
	ERDMA_CMD_ANSWERED,
	ERDMA_CMD_UNANSWERED,
};

/**
 * erdma_cmd_may_still_run - may the device yet carry out a command that failed?
 * @outcome: what became of it
 *
 * Who asked the device to make something and failed frees what it was to be made
 * of only if not; else that has to be destroyed at the device first.
 *
 * Return: true if it may.
 */
static inline bool erdma_cmd_may_still_run(enum erdma_cmd_outcome outcome)
{
	return outcome == ERDMA_CMD_UNANSWERED;
}

/**
 * struct erdma_resp_buf - memory the device writes a response to by DMA
 * @list: in erdma_cmdq.lost_bufs, of a command that was lost
 * @pool: where it comes from
 * @virt: buffer
 * @dma: its bus address
 */
struct erdma_resp_buf {
	struct list_head list;
	struct dma_pool *pool;
	void *virt;
	dma_addr_t dma;
};

/**
 * struct erdma_cmd_ctx - a command from its submission to its completion; owns
 *	the result
 * @state: see enum erdma_cmd_state
 * @waited: somebody waits for @done
 * @done: completed when @state becomes DONE
 * @sq_index: free-running WQEBB index of the slot in the SQ
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @syndrome: device status, 0 = success
 * @resp: response words
 * @task: who waits for it, while @state is SUBMITTED
 * @submit_ns: ktime_get_ns() at submission
 * @answer_ns: ktime_get_ns() when the completion was taken, 0 before
 * @buf: of a QUARANTINED command: freed when the device cannot write it any more,
 *	NULL = none
 */
struct erdma_cmd_ctx {
	enum erdma_cmd_state state;
	bool waited;
	struct completion done;
	u16 sq_index;
	u8 submod;
	u8 opcode;
	u8 syndrome;
	u64 resp[2];
	struct task_struct *task;
	u64 submit_ns;
	u64 answer_ns;
	struct erdma_resp_buf *buf;
};

/**
 * struct erdma_cmdq_death - why a command queue is dead
 * @reason: ERDMA_DIAG_DEAD_*
 * @submod: enum erdma_submod of the command that showed it
 * @opcode: its opcode
 * @caller: who waited for it, with a reference; NULL: there was no command
 * @waited_ns: how long it had waited
 * @ns: ktime_get_ns()
 */
struct erdma_cmdq_death {
	u32 reason;
	u8 submod;
	u8 opcode;
	struct task_struct *caller;
	u64 waited_ns;
	u64 ns;
};

/* Commands in a row that timed out, nothing answered in between: queue is dead */
#define ERDMA_CMDQ_MAX_STUCK 4
#define ERDMA_CMDQ_NO_CTX 0xff

/**
 * struct erdma_cmdq - command SQ, CQ and EQ
 * @mmio: BAR0
 * @dma_dev: for DMA memory
 * @dbrec_pool: doorbell records
 * @stats: counters
 * @dev: for messages
 * @on_dead: the queue gave up on the device; @why says for which reason. Called once
 *	in the life of the queue, and not by erdma_cmdq_kill(), whose caller knows.
 *	Any context, with @lock: may queue work and nothing else. NULL = nobody
 * @lock: protects everything below but @eq
 * @credits: free contexts; taken before @lock
 * @state: ERDMA_DIAG_CMDQ_*
 * @sq: WQEBBs
 * @sq_dma: bus address of @sq
 * @sq_dbrec: doorbell record
 * @sq_dbrec_dma: its bus address
 * @sq_pi: producer index in WQEBBs, 16 bits
 * @cq: CQEs
 * @cq_dma: bus address of @cq
 * @cq_dbrec: doorbell record
 * @cq_dbrec_dma: its bus address
 * @cq_ci: consumer index
 * @cq_echo: fields of a completion's header that this device fills in as it should
 *	(4.4): ERDMA_CQE_OPCODE, ERDMA_CQE_QTYPE
 * @cmdsn: event sequence number, carried by the arm doorbell
 * @armed: the CQ was armed since the last event
 * @seen_ci: consumer index of the CQ at the last event
 * @empty_events: events in a row since which no completion was taken
 * @ctxs: contexts; the number of a context is the CTX field of the header
 * @slot_ctx: by slot of the SQ: context of the unanswered command in it,
 *	ERDMA_CMDQ_NO_CTX = none
 * @lost_bufs: buffers of lost commands, struct erdma_resp_buf; the device may still
 *	write them
 * @in_flight: submitted, not answered and not lost
 * @max_in_flight: high-water mark
 * @quarantined: contexts in ERDMA_CMD_QUARANTINED
 * @stuck: commands that timed out since the device answered one
 * @death: if @state is DEAD
 * @timeout_ms: per command; ERDMA_CMDQ_TIMEOUT_MS, shorter in KUnit
 * @eq: EQ 0
 */
struct erdma_cmdq {
	const struct erdma_mmio *mmio;
	struct device *dma_dev;
	struct dma_pool *dbrec_pool;
	struct erdma_stats *stats;
	struct erdma_dev *dev;
	void (*on_dead)(struct erdma_cmdq *q, const char *why);
	spinlock_t lock;
	struct semaphore credits;
	u32 state;
	void *sq;
	dma_addr_t sq_dma;
	__le64 *sq_dbrec;
	dma_addr_t sq_dbrec_dma;
	u16 sq_pi;
	struct erdma_cqe *cq;
	dma_addr_t cq_dma;
	__le64 *cq_dbrec;
	dma_addr_t cq_dbrec_dma;
	u32 cq_ci;
	u32 cq_echo;
	u32 cmdsn;
	bool armed;
	u32 seen_ci;
	u32 empty_events;
	struct erdma_cmd_ctx ctxs[ERDMA_CMDQ_SLOTS];
	u8 slot_ctx[ERDMA_CMDQ_SLOTS];
	struct list_head lost_bufs;
	u32 in_flight;
	u32 max_in_flight;
	u32 quarantined;
	u32 stuck;
	struct erdma_cmdq_death death;
	u32 timeout_ms;
	struct erdma_eq eq;
};

/**
 * struct erdma_cmd_result - what became of a command
 * @outcome: how far it got
 * @resp: response words, valid after success
 * @syndrome: device status if the command failed with -EIO
 * @submit_ns: ktime_get_ns() at submission, 0 = not sent
 * @answer_ns: ktime_get_ns() when the completion was taken, 0 = not answered
 * @hurried: the caller's time was shorter than what is usual for this command; that it was
 *	over says nothing about the device. Left false by the command queue.
 */
struct erdma_cmd_result {
	enum erdma_cmd_outcome outcome;
	u64 resp[2];
	u8 syndrome;
	u64 submit_ns;
	u64 answer_ns;
	bool hurried;
};

/**
 * erdma_cmd_found_no_context - was a command not sent because others had all contexts?
 * @err: what it returned
 * @res: what became of it
 *
 * That is no fault of the device's: it may be tried again.
 *
 * Return: true if so.
 */
static inline bool erdma_cmd_found_no_context(int err, const struct erdma_cmd_result *res)
{
	return err == -ETIMEDOUT && res->outcome == ERDMA_CMD_NOT_SENT;
}

struct erdma_resp_buf *erdma_resp_buf_alloc(struct dma_pool *pool);
void erdma_resp_buf_free(struct erdma_resp_buf *buf);
int erdma_cmdq_init(struct erdma_cmdq *q);
void erdma_cmdq_exit(struct erdma_cmdq *q);
void erdma_cmdq_forget_caller(struct erdma_cmdq *q);
void erdma_cmdq_start_events(struct erdma_cmdq *q);
void erdma_cmdq_irq(struct erdma_cmdq *q);
void erdma_cmdq_kill(struct erdma_cmdq *q);
int erdma_cmdq_exec_buf(struct erdma_cmdq *q, u8 submod, u8 opcode, const void *req,
			size_t size, struct erdma_cmd_result *res, u32 timeout_ms,
			struct erdma_resp_buf **buf);

/**
 * erdma_cmdq_exec - run a command
 * @q: command queue
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @req: request; its header is filled in on the way
 * @size: bytes of @req with the header, 8..128
 * @res: zeroed, then filled with the outcome and the answer; may be NULL
 * @timeout_ms: see erdma_cmdq_exec_buf()
 *
 * Context: process, sleeps uninterruptibly but not longer than twice @timeout_ms.
 * Return: see erdma_cmdq_exec_buf().
 */
static inline int erdma_cmdq_exec(struct erdma_cmdq *q, u8 submod, u8 opcode, const void *req,
				  size_t size, struct erdma_cmd_result *res, u32 timeout_ms)
{
	return erdma_cmdq_exec_buf(q, submod, opcode, req, size, res, timeout_ms, NULL);
}

/* ---- erdma_cmd.c: one function per command ------------------------------ */

/**
 * struct erdma_queue_mem - where the device finds a ring
 * @page_code: page size 4096 << code
 * @level: 1 = @addr is a table of page addresses
 * @page_cnt: entries
 * @first_off: byte offset of the ring in its first page
 * @addr: page or table
 * @page: entries 1..3 if @level is 0 and @page_cnt > 1
 * @dbrec: bus address of the doorbell record
 */
struct erdma_queue_mem {
	u32 page_code;
	u32 level;
	u32 page_cnt;
	u32 first_off;
	u64 addr;
	u64 page[3];
	u64 dbrec;
};

/**
 * struct erdma_db_pages - doorbell pages of a user context, as indices from the
 *	start of BAR0
 * @valid: allocated from the device (FLAGS.EXT_DB)
 * @sdb: SQ doorbell page
 * @rdb: passed as the RQ page in CREATE_QP, mapped as the *CQ* page (2.7)
 * @cdb: passed as the CQ page in CREATE_CQ, mapped as the *RQ* page (2.7)
 */
struct erdma_db_pages {
	bool valid;
	u16 sdb;
	u16 rdb;
	u16 cdb;
};

/**
 * struct erdma_conn - a TCP connection handed to the device (12.5)
 * @sip: local address
 * @dip: remote address
 * @sport: local port
 * @dport: remote port
 * @send_nxt: next sequence number to send
 * @recv_nxt: next sequence number expected
 * @peer_cookie: of the peer's CREATE_QP
 * @mss: maximum segment size that the peer announced; not handed to the device
 * @cc: enum erdma_cc
 * @passive: this side accepted
 */
struct erdma_conn {
	__be32 sip;
	__be32 dip;
	__be16 sport;
	__be16 dport;
	u32 send_nxt;
	u32 recv_nxt;
	u32 peer_cookie;
	u16 mss;
	u8 cc;
	bool passive;
};

/**
 * struct erdma_mr_spec - a memory region for REG_MR
 * @index: MR index
 * @key: key byte
 * @pdn: PD number
 * @type: enum erdma_mr_type
 * @rights: ERDMA_RIGHT_*
 * @va: start address (normal)
 * @len: bytes (normal)
 * @page_shift: log2
 * @page_cnt: pages
 * @level: translation levels, 0 = @page holds the pages
 * @page: pages, or page[0] = table
 */
struct erdma_mr_spec {
	u32 index;
	u8 key;
	u32 pdn;
	u32 type;
	u32 rights;
	u64 va;
	u64 len;
	u32 page_shift;
	u32 page_cnt;
	u32 level;
	u64 page[ERDMA_INLINE_MTT_CNT];
};

struct erdma_attrs;

int erdma_parse_caps(struct erdma_attrs *attrs, u64 cap0, u64 cap1);
int erdma_exec_query_device(struct erdma_dev *dev, u64 *cap0, u64 *cap1);
int erdma_exec_query_fw(struct erdma_dev *dev, u32 *fw_version);
int erdma_exec_conf_device(struct erdma_dev *dev);
int erdma_exec_conf_mtu(struct erdma_dev *dev, u32 mtu);
int erdma_exec_create_eq(struct erdma_dev *dev, const struct erdma_ceq *ceq,
			 enum erdma_cmd_outcome *outcome);
int erdma_exec_destroy_eq(struct erdma_dev *dev, const struct erdma_ceq *ceq);
int erdma_exec_alloc_db(struct erdma_dev *dev, struct erdma_db_pages *db);
int erdma_exec_free_db(struct erdma_dev *dev, const struct erdma_db_pages *db, u32 mask);
int erdma_exec_create_cq(struct erdma_dev *dev, u32 cqn, u32 depth, u32 eqn,
			 const struct erdma_queue_mem *mem, const struct erdma_db_pages *db,
			 enum erdma_cmd_outcome *outcome);
int erdma_exec_destroy_cq(struct erdma_dev *dev, u32 cqn);
int erdma_exec_create_qp(struct erdma_dev *dev, const struct erdma_qp *qp, u32 *cookie,
			 enum erdma_cmd_outcome *outcome);
int erdma_exec_destroy_qp(struct erdma_dev *dev, u32 qpn);
int erdma_exec_modify_qp(struct erdma_dev *dev, u32 qpn, enum erdma_qp_state state,
			 const struct erdma_conn *conn, struct erdma_cmd_result *res);
int erdma_exec_reflush(struct erdma_dev *dev, u32 qpn, u16 sq_pi, u16 rq_pi,
		       struct erdma_cmd_result *res);
int erdma_exec_reg_mr(struct erdma_dev *dev, const struct erdma_mr_spec *spec,
		      struct erdma_cmd_result *res);
int erdma_exec_dereg_mr(struct erdma_dev *dev, const struct erdma_rec_key *key);
int erdma_exec_get_stats(struct erdma_dev *dev, struct erdma_resp_stats *out);
int erdma_exec_query(struct erdma_dev *dev, u8 submod, u8 opcode, u32 index,
		     void *buf, size_t len, u8 *syndrome, u32 timeout_ms);

#endif /* ERDMA_TRANSPORT_H */
