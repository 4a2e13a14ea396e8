/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Trace points: what the recorders remember, for perf, bpftrace and ftrace while it
 * happens. None is on the data path but that of a request that failed.
 *
 * Names of fields are part of the interface (man/erdma.4).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM erdma

#if !defined(ERDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ERDMA_TRACE_H

#include <linux/pci.h>
#include <linux/tracepoint.h>

#include "erdma.h"
#include "erdma_cm.h"
#include "erdma/erdma_names.h"

/* Words stand in the entries: whoever reads them need not have the lists */
#define TRACE_WORD_LEN			32
#define trace_word_entry(field)		__array(char, field, TRACE_WORD_LEN)
#define trace_word_assign(field, word)	strscpy(__entry->field, (word) ?: "unknown", TRACE_WORD_LEN)

#define trace_dev_entry			__array(char, dev, IB_DEVICE_NAME_MAX)
#define trace_dev_assign(ed)		strscpy(__entry->dev, (ed)->ibdev.name, IB_DEVICE_NAME_MAX)

/* A command is over, well or badly; in the context of who wanted it */
TRACE_EVENT(erdma_cmd,
	TP_PROTO(const struct erdma_dev *ed, u8 submod, u8 opcode, u32 object, int err,
		 const struct erdma_cmd_result *res),
	TP_ARGS(ed, submod, opcode, object, err, res),
	TP_STRUCT__entry(
		trace_dev_entry
		trace_word_entry(name)
		__field(u32, submod)
		__field(u32, opcode)
		__field(u32, object)
		__field(u32, outcome)
		__field(u32, syndrome)
		__field(s32, err)
		__field(u64, latency_ns)
	),
	TP_fast_assign(
		trace_dev_assign(ed);
		trace_word_assign(name, erdma_name_cmd(submod, opcode));
		__entry->submod = submod;
		__entry->opcode = opcode;
		__entry->object = object;
		__entry->outcome = res->outcome;
		__entry->syndrome = res->syndrome;
		__entry->err = err;
		__entry->latency_ns = res->answer_ns ? res->answer_ns - res->submit_ns : 0;
	),
	TP_printk("%s %s object=%u outcome=%u syndrome=%u err=%d latency_ns=%llu", __entry->dev,
		  __entry->name, __entry->object, __entry->outcome, __entry->syndrome,
		  __entry->err, __entry->latency_ns)
);

/* A completion EQ named a CQ; wanted = 0: nobody had armed it, or there is none */
TRACE_EVENT(erdma_ceqe,
	TP_PROTO(const struct erdma_dev *ed, u32 eqn, u32 cqn, bool wanted),
	TP_ARGS(ed, eqn, cqn, wanted),
	TP_STRUCT__entry(
		trace_dev_entry
		__field(u32, eqn)
		__field(u32, cqn)
		__field(u32, wanted)
	),
	TP_fast_assign(
		trace_dev_assign(ed);
		__entry->eqn = eqn;
		__entry->cqn = cqn;
		__entry->wanted = wanted;
	),
	TP_printk("%s eq=%u cq=%u wanted=%u", __entry->dev, __entry->eqn, __entry->cqn,
		  __entry->wanted)
);

/* An entry of the asynchronous EQ */
TRACE_EVENT(erdma_aeqe,
	TP_PROTO(const struct erdma_dev *ed, u32 type, u32 subtype, u32 object, u32 data),
	TP_ARGS(ed, type, subtype, object, data),
	TP_STRUCT__entry(
		trace_dev_entry
		trace_word_entry(name)
		__field(u32, type)
		__field(u32, subtype)
		__field(u32, object)
		__field(u32, data)
	),
	TP_fast_assign(
		trace_dev_assign(ed);
		trace_word_assign(name, erdma_name_ae_type(type));
		__entry->type = type;
		__entry->subtype = subtype;
		__entry->object = object;
		__entry->data = data;
	),
	TP_printk("%s %s subtype=%u object=%u data=%#x", __entry->dev, __entry->name,
		  __entry->subtype, __entry->object, __entry->data)
);

/* A kernel consumer polled a request that failed */
TRACE_EVENT(erdma_cqe_error,
	TP_PROTO(const struct erdma_dev *ed, u32 cqn, u32 qpn, u32 opcode, u32 index, u32 syndrome),
	TP_ARGS(ed, cqn, qpn, opcode, index, syndrome),
	TP_STRUCT__entry(
		trace_dev_entry
		trace_word_entry(request)
		trace_word_entry(cause)
		__field(u32, cqn)
		__field(u32, qpn)
		__field(u32, opcode)
		__field(u32, index)
		__field(u32, syndrome)
	),
	TP_fast_assign(
		trace_dev_assign(ed);
		trace_word_assign(request, erdma_name_wr_opcode(opcode));
		trace_word_assign(cause, erdma_name_syndrome(syndrome));
		__entry->cqn = cqn;
		__entry->qpn = qpn;
		__entry->opcode = opcode;
		__entry->index = index;
		__entry->syndrome = syndrome;
	),
	TP_printk("%s cq=%u qp=%u %s index=%u %s", __entry->dev, __entry->cqn, __entry->qpn,
		  __entry->request, __entry->index, __entry->cause)
);

/* The driver recorded another state of a QP */
TRACE_EVENT(erdma_qp_state,
	TP_PROTO(const struct erdma_dev *ed, u32 qpn, u32 from, u32 to),
	TP_ARGS(ed, qpn, from, to),
	TP_STRUCT__entry(
		trace_dev_entry
		trace_word_entry(before)
		trace_word_entry(after)
		__field(u32, qpn)
	),
	TP_fast_assign(
		trace_dev_assign(ed);
		trace_word_assign(before, erdma_name_qp_state(from));
		trace_word_assign(after, erdma_name_qp_state(to));
		__entry->qpn = qpn;
	),
	TP_printk("%s qp=%u %s to %s", __entry->dev, __entry->qpn, __entry->before,
		  __entry->after)
);

/* A connection reached a stage; or the attempt is over: err says why it failed, 0 = it did not */
TRACE_EVENT(erdma_cm,
	TP_PROTO(const struct erdma_ep *ep, bool over, int err),
	TP_ARGS(ep, over, err),
	TP_STRUCT__entry(
		trace_dev_entry
		trace_word_entry(name)
		__field(u32, endpoint)
		__field(u32, active)
		__field(u32, stage)
		__field(u32, over)
		__field(u32, qpn)
		__field(u32, saddr)
		__field(u32, daddr)
		__field(u16, sport)
		__field(u16, dport)
		__field(s32, err)
	),
	TP_fast_assign(
		trace_dev_assign(ep->dev);
		trace_word_assign(name, trace_cm_stages[ep->log.stage]);
		__entry->endpoint = ep->num;
		__entry->active = ep->log.active;
		__entry->stage = ep->log.stage;
		__entry->over = over;
		__entry->qpn = ep->log.qpn;
		__entry->saddr = (__force u32)ep->log.saddr;
		__entry->daddr = (__force u32)ep->log.daddr;
		__entry->sport = ntohs(ep->log.sport);
		__entry->dport = ntohs(ep->log.dport);
		__entry->err = err;
	),
	TP_printk("%s endpoint=%u %s %s over=%u qp=%u %pI4:%u to %pI4:%u err=%d", __entry->dev,
		  __entry->endpoint, __entry->active ? "active" : "passive", __entry->name,
		  __entry->over, __entry->qpn, &__entry->saddr, __entry->sport, &__entry->daddr,
		  __entry->dport, __entry->err)
);

/* The device was lost, or what followed: event is ERDMA_DIAG_RESET_* */
TRACE_EVENT(erdma_reset,
	TP_PROTO(const struct pci_dev *pdev, u32 event, const char *reason, int err),
	TP_ARGS(pdev, event, reason, err),
	TP_STRUCT__entry(
		trace_word_entry(pci)
		trace_word_entry(name)
		__field(u32, event)
		__field(s32, err)
		__array(char, reason, ERDMA_DIAG_LOG_REASON_LEN)
	),
	TP_fast_assign(
		trace_word_assign(pci, pci_name(pdev));
		trace_word_assign(name, trace_reset_events[event]);
		__entry->event = event;
		__entry->err = err;
		strscpy(__entry->reason, reason ?: "", sizeof(__entry->reason));
	),
	TP_printk("%s %s err=%d %s", __entry->pci, __entry->name, __entry->err, __entry->reason)
);

#endif /* ERDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE erdma_trace
#include <trace/define_trace.h>
