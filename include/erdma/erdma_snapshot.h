/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The snapshot file: what "eadm snapshot" writes and "eadm --from" reads.
 *
 * A header, then records until ERDMA_SNAP_END. Everything is little endian. A
 * record is an envelope (struct erdma_snap_rec) and a body of a multiple of 8
 * bytes. Types below ERDMA_SNAP_TOOL are those of erdma_diag.h (ERDMA_DIAG_REC_*),
 * their bodies the structures of that file. Bodies of the other types are a
 * structure of erdma_diag.h or lines "name=value\n", as said at each type. Readers
 * skip types they do not know, take missing fields as zero, and read a file that
 * was cut off up to the cut.
 */
#ifndef ERDMA_SNAPSHOT_H
#define ERDMA_SNAPSHOT_H

#include <linux/types.h>

#include "erdma_size.h"

#define ERDMA_SNAP_MAGIC	"ERDMASNP"
#define ERDMA_SNAP_MAGIC_LEN	8
#define ERDMA_SNAP_VERSION	1

/**
 * struct erdma_snap_header - first bytes of the file
 * @magic: ERDMA_SNAP_MAGIC, without its NUL
 * @version: ERDMA_SNAP_VERSION
 * @len: bytes of this header
 */
struct erdma_snap_header {
	__u8 magic[ERDMA_SNAP_MAGIC_LEN];
	__le32 version;
	__le32 len;
};
ERDMA_SIZE_IS(struct erdma_snap_header, 16);

/**
 * struct erdma_snap_rec - envelope of a record
 * @len: bytes of the record with this envelope, a multiple of 8
 * @type: ERDMA_DIAG_REC_* or ERDMA_SNAP_*
 * @flags: ERDMA_DIAG_REC_F_*
 * @dev: device of the file it belongs to, counted from 0; ERDMA_SNAP_NO_DEV
 * @obj: ERDMA_DIAG_OBJ_*; of a ring ERDMA_DIAG_RING_*; 0
 * @id: number of the object
 * @seq: number of the record in the file, from 0
 * @time_ns: CLOCK_MONOTONIC when it was taken
 */
struct erdma_snap_rec {
	__le32 len;
	__le16 type;
	__le16 flags;
	__le32 dev;
	__le32 obj;
	__le32 id;
	__le32 seq;
	__le64 time_ns;
};
ERDMA_SIZE_IS(struct erdma_snap_rec, 32);

#define ERDMA_SNAP_NO_DEV	0xffffffff
#define ERDMA_SNAP_MAX_BODY	(64 << 20)

#define ERDMA_SNAP_TOOL		0x100	/* first type of this file */
#define ERDMA_SNAP_FILE		0x100	/* lines: who took it, where, when, how redacted */
#define ERDMA_SNAP_DEVICE	0x101	/* lines: an adapter, with or without a driver */
#define ERDMA_SNAP_INFO		0x102	/* struct erdma_diag_info */
#define ERDMA_SNAP_DEBUG	0x103	/* struct erdma_diag_debug */
#define ERDMA_SNAP_RING		0x104	/* struct erdma_diag_ring_read, then all entries */
#define ERDMA_SNAP_COUNTERS	0x105	/* lines: counter=value; id is the port; taken twice */
#define ERDMA_SNAP_FACTS	0x106	/* lines: what rdma netlink and sysfs know of a device */
#define ERDMA_SNAP_HOST		0x107	/* lines: interface, addresses, interrupts; taken twice */
#define ERDMA_SNAP_PROCESS	0x108	/* lines: an owner; id is its process id; taken twice */
#define ERDMA_SNAP_PROBLEM	0x109	/* lines: what could not be taken, and the errno */
#define ERDMA_SNAP_OBJECT	0x10a	/* lines: a QP or CQ of rdma netlink, without a node */
#define ERDMA_SNAP_TOGETHER	0x10b	/* lines: what was read by one ERDMA_DIAG_SNAPSHOT */
#define ERDMA_SNAP_MOMENT	0x10c	/* lines: what may stand still follows, once more */
#define ERDMA_SNAP_SYSTEM	0x10d	/* lines: what the host has for its devices */
#define ERDMA_SNAP_END		0x1ff	/* struct erdma_snap_end: the last record */

/**
 * struct erdma_snap_end - body of ERDMA_SNAP_END
 * @records: records before this one
 * @crc: CRC-32C (Castagnoli) of all bytes of the file before this record
 */
struct erdma_snap_end {
	__le32 records;
	__le32 crc;
};
ERDMA_SIZE_IS(struct erdma_snap_end, 8);

#endif /* ERDMA_SNAPSHOT_H */
