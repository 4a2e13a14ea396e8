/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics for Prometheus: one table of names, types and helps, from which the output and the
 * reference take them. Counters of "eadm stat" are metrics, too: their names are made of those
 * of include/erdma/erdma_counters.h. Devices of other drivers have metrics of their own, whose
 * names do not depend on the driver: those of other_counters.h, and one for all other counters.
 */
#ifndef EADM_METRICS_H
#define EADM_METRICS_H

#include <stdio.h>

#include "cmd.h"
#include "counters.h"

#define METRIC_PREFIX	"erdma_"
#define METRIC_COUNTER	"_total"
#define METRIC_OTHER	"rdma_"	/* prefix: of other drivers */

/* X(identifier, name, type, labels, help); names that exist stay: dashboards know them */
#define METRICS(X) \
	X(ADAPTERS, "adapters", GAUGE, "", \
	  "ERDMA adapters that were found, with or without a driver") \
	X(UP, "up", GAUGE, "device, pci", \
	  "1: the diagnostic node of the device answered; 0: it did not, or there is none") \
	X(PART_UP, "part_up", GAUGE, "device, part", \
	  "1: this part of the device's metrics was read; 0: it is missing or incomplete") \
	X(INFO, "info", GAUGE, "device, pci, netdev, driver, driver_version, fw, node_guid", \
	  "Identity of the device, the driver alone of an adapter without one; the value is 1") \
	X(LINK_UP, "link_up", GAUGE, "device, port", "1: the port is active") \
	X(MTU, "mtu_bytes", GAUGE, "device, port", "MTU of the network interface") \
	X(START, "start_time_seconds", GAUGE, "device", \
	  "Unix time at which the driver brought this device up") \
	X(GENERATION, "generation", GAUGE, "device", \
	  "Devices brought up after a loss, since the driver was bound") \
	X(LAST_LOSS, "last_loss_time_seconds", GAUGE, "device, reason", \
	  "Unix time of the latest loss or reset of the device; absent without one") \
	X(HEALTH, "health", GAUGE, "device, state", \
	  "Health as 'eadm info dev' has it: ok, warning or down; the value is 1") \
	X(FINDINGS, "findings", GAUGE, "device, rule, level, confidence, side", \
	  "Rules of 'eadm doctor' that hold, of those that need neither samples nor the device; " \
	  "absent without one") \
	X(OBJECTS, "objects", GAUGE, "device, kind", "Objects in existence") \
	X(OBJECTS_MAX, "objects_max", GAUGE, "device, kind", "Objects that there can be") \
	X(OBJECTS_PEAK, "objects_peak", GAUGE, "device, kind", \
	  "Most objects at a time since the device was brought up") \
	X(QPS, "queue_pairs", GAUGE, "device, state", \
	  "Queue pairs by state; DEAD: the device stopped it") \
	X(CMDQ_STATE, "cmdq_state", GAUGE, "device, state", \
	  "State of the command queue; the value is 1") \
	X(CMDQ_MAX, "cmdq_contexts_max", GAUGE, "device", "Commands that can be in flight") \
	X(CMDQ_IN_FLIGHT, "cmdq_in_flight", GAUGE, "device", \
	  "Commands that the device has not answered") \
	X(CMDQ_PEAK, "cmdq_in_flight_peak", GAUGE, "device", "Most commands in flight at a time") \
	X(CMDQ_QUARANTINED, "cmdq_quarantined", GAUGE, "device", \
	  "Command contexts whose command was not answered in time") \
	X(CMDQ_OLDEST, "cmdq_oldest_seconds", GAUGE, "device", \
	  "Age of the oldest command in flight, 0 without one") \
	X(CMD_TIME, "command_duration_seconds", HISTOGRAM, "device, opcode", \
	  "Time from the submission of a command to its answer; without those not answered")

/* Ditto, of RDMA devices of other drivers; absent without one */
#define OTHER_METRICS(X) \
	X(OTHER_DEVICES, "devices", GAUGE, "", "RDMA devices of other drivers") \
	X(OTHER_INFO, "info", GAUGE, "device, pci, netdev, driver, driver_version, fw, node_guid", \
	  "Identity of a device of another driver; the value is 1") \
	X(OTHER_LINK_UP, "link_up", GAUGE, "device", "1: a port of the device is active") \
	X(OTHER_OBJECTS, "objects", GAUGE, "device, kind", "Objects in existence") \
	X(OTHER_COUNTER, "hw_statistic_total", COUNTS, "device, port, counter", \
	  "A counter of the driver, by the driver's name; what belongs to the device is at port 1")

/**
 * enum metric_type - type of a metric
 * @METRIC_GAUGE: a value that goes up and down
 * @METRIC_COUNTS: a value that goes up
 * @METRIC_HISTOGRAM: buckets, sum and count
 */
enum metric_type { METRIC_GAUGE, METRIC_COUNTS, METRIC_HISTOGRAM };

/**
 * enum metric_id - metrics, in the order of the tables
 * @METRIC_COUNT: their number
 */
enum metric_id {
#define METRIC_ENUM(id, ...) METRIC_##id,
	METRICS(METRIC_ENUM)
	OTHER_METRICS(METRIC_ENUM)
#undef METRIC_ENUM
	METRIC_COUNT
};

/**
 * struct metrics - the metrics of one run
 * @c: run
 * @family: samples of each metric of the table; NULL: none yet
 * @counter: samples of each counter of counters.h, by counter_number()
 * @others: metrics of counters that counters.h does not have
 * @port: samples of each counter of other_counters.h that is a metric of its own
 */
struct metrics {
	struct ctx *c;
	struct obj *family[METRIC_COUNT];
	struct obj **counter;
	struct list others;
	struct obj **port;
};

/* Labels are names and values in pairs, NULL at the end; values are in Prometheus' notation */
void metrics_init(struct metrics *m, struct ctx *c);
void metric_add(struct metrics *m, enum metric_id id, const char *value, ...)
	__attribute__((sentinel));
void metric_add_part(struct metrics *m, enum metric_id id, const char *suffix, const char *value,
		     ...) __attribute__((sentinel));
void metric_add_counter(struct metrics *m, const char *name, uint64_t value, const char *device,
			const char *port);
void metric_add_other_counter(struct metrics *m, const char *name, uint64_t value,
			      const char *device, const char *port);
void metrics_finish(struct metrics *m);
const char *metric_u64(struct ctx *c, uint64_t v);
const char *metric_seconds(struct ctx *c, uint64_t ns);
void metrics_reference(FILE *f);

/* metrics_dev.c */
void metrics_of_dev(struct metrics *m, struct dev *dev);

/* metrics_other.c */
void metrics_of_other(struct metrics *m, struct dev *dev);

#endif /* EADM_METRICS_H */
