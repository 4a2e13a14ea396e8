# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# A test module for one kernel: make KDIR=/usr/src/linux-headers-... The build is in a
# copy, OUT. SHARED: files that it takes from elsewhere in the checkout.

TOP := $(abspath ../../..)
NAME := $(notdir $(CURDIR))
OUT ?= $(TOP)/build/$(NAME)
KDIR ?= /lib/modules/$(shell uname -r)/build
SOURCES := $(wildcard *.c *.h) Kbuild $(notdir $(SHARED))

vpath %.h $(addprefix $(TOP)/,$(dir $(SHARED)))

all: $(addprefix $(OUT)/,$(SOURCES))
	@cd $(OUT) && for f in *.[ch]; do \
		case " $(SOURCES) $(NAME).mod.c " in *" $$f "*) ;; *) rm "$$f" ;; esac; done
	$(MAKE) -C $(KDIR) M=$(OUT) modules

$(OUT)/%: % | $(OUT)
	cp $< $@

$(OUT):
	mkdir -p $@

clean:
	rm -rf $(OUT)

.PHONY: all clean
