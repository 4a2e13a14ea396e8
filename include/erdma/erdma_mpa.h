/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* MPA frame of the iWARP connection set-up (docs/erdma-hardware.md, 12.3) */
#ifndef ERDMA_MPA_H
#define ERDMA_MPA_H

#include <linux/types.h>
#include "erdma_hw.h"

#define ERDMA_MPA_KEY_SIZE	16
#define ERDMA_MPA_KEY_REQ	"MPA ID Req Frame"	/* no terminator on the wire */
#define ERDMA_MPA_KEY_REP	"MPA ID Rep Frame"
#define ERDMA_MPA_REVISION	129
#define ERDMA_MPA_MAX_PDATA	255			/* 256 does not fit its 8 bits */

/* Fixed part; private data follows */
struct erdma_mpa_frame {
	__u8 key[ERDMA_MPA_KEY_SIZE];
	__be16 bits;
#define ERDMA_MPA_MARKERS	0x8000
#define ERDMA_MPA_CRC		0x4000
#define ERDMA_MPA_REJECT	0x2000
#define ERDMA_MPA_REV		0x00ff
	__be16 pdata_len;	/* private data only */
	__be32 cookie;		/* of the sender's QP, from CREATE_QP */
	__be32 ext;
#define ERDMA_MPA_EXT_CC	0x0000000f	/* enum erdma_cc */
};
ERDMA_SIZE_IS(struct erdma_mpa_frame, 28);
#define ERDMA_MPA_FIXED_SIZE	28

/* 12.4 timers */
#define ERDMA_MPA_CONNECT_MS	10000
#define ERDMA_MPA_REPLY_MS	10000
#define ERDMA_MPA_REQUEST_MS	20000

#endif /* ERDMA_MPA_H */
