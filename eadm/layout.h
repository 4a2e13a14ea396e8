/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the structures of a snapshot consist of: place, width and class of each
 * field. Two users: byte order (the file is little endian, structures are not),
 * and redaction, which drops what no table names.
 */
#ifndef EADM_LAYOUT_H
#define EADM_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/**
 * enum field_class - what a field shows about its owner
 * @FC_PLAIN: nothing: numbers of objects, indices, states, counts, times
 * @FC_IP: an IP address
 * @FC_MAC: a MAC address, or a GUID made of one
 * @FC_NAME: name of an interface, a device node or a host
 * @FC_PID: process id
 * @FC_COMM: name of a program
 * @FC_KEY: key of a memory region
 * @FC_ADDR: bus or user address
 * @FC_PLACE: address in the memory region that the record is of
 * @FC_DATA: contents of an application
 */
enum field_class {
	FC_PLAIN,
	FC_IP,
	FC_MAC,
	FC_NAME,
	FC_PID,
	FC_COMM,
	FC_KEY,
	FC_ADDR,
	FC_PLACE,
	FC_DATA,
	FC_COUNT,
};

/**
 * struct layout_field - elements of one width, one behind the other
 * @off: bytes from the start of the structure
 * @width: bytes of an element: 1, 2, 4, 8; 1 for addresses and strings
 * @count: elements
 * @cls: class of all of them
 */
struct layout_field {
	uint16_t off;
	uint8_t width;
	uint16_t count;
	enum field_class cls;
};

/**
 * struct layout - fields of a structure, by ascending offset
 * @size: bytes of the structure
 * @f: fields
 * @n: their number
 */
struct layout {
	size_t size;
	const struct layout_field *f;
	size_t n;
};

const struct layout *layout_of_record(uint16_t type);
const struct layout *layout_of_context(uint16_t type);
void layout_swap(const struct layout *l, uint8_t *p, size_t len);

#endif /* EADM_LAYOUT_H */
