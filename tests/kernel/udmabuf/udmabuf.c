// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * /dev/udmabuf for kernels that were built without CONFIG_UDMABUF: a dma-buf of
 * the pages of a memfd. Only UDMABUF_CREATE, only for tests run by root.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/udmabuf.h>

#define MAX_PAGES	65536

/**
 * struct buffer - a dma-buf
 * @count: number of pages
 * @pages: each with a reference
 */
struct buffer {
	size_t count;
	struct page *pages[];
};

static void buffer_free(struct buffer *b)
{
	while (b->count)
		put_page(b->pages[--b->count]);
	kvfree(b);
}

static struct sg_table *buffer_map(struct dma_buf_attachment *at, enum dma_data_direction dir)
{
	struct buffer *b = at->dmabuf->priv;
	struct sg_table *sgt;
	int err;

	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	err = sg_alloc_table_from_pages(sgt, b->pages, b->count, 0, b->count << PAGE_SHIFT,
					GFP_KERNEL);
	if (err)
		goto err_free;
	err = dma_map_sgtable(at->dev, sgt, dir, 0);
	if (err)
		goto err_table;
	return sgt;

err_table:
	sg_free_table(sgt);
err_free:
	kfree(sgt);
	return ERR_PTR(err);
}

static void buffer_unmap(struct dma_buf_attachment *at, struct sg_table *sgt,
			 enum dma_data_direction dir)
{
	dma_unmap_sgtable(at->dev, sgt, dir, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

static void buffer_release(struct dma_buf *buf)
{
	buffer_free(buf->priv);
}

static const struct dma_buf_ops buffer_ops = {
	.map_dma_buf = buffer_map,
	.unmap_dma_buf = buffer_unmap,
	.release = buffer_release,
};

static struct buffer *buffer_of(struct file *memfd, u64 offset, u64 size)
{
	size_t i, count = size >> PAGE_SHIFT;
	struct buffer *b;
	struct page *page;

	if (!count || count > MAX_PAGES || !PAGE_ALIGNED(offset) || !PAGE_ALIGNED(size))
		return ERR_PTR(-EINVAL);
	b = kvzalloc(struct_size(b, pages, count), GFP_KERNEL);
	if (!b)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < count; i++) {
		page = shmem_read_mapping_page(memfd->f_mapping, (offset >> PAGE_SHIFT) + i);
		if (IS_ERR(page)) {
			buffer_free(b);
			return ERR_CAST(page);
		}
		b->pages[b->count++] = page;
	}
	return b;
}

static long udmabuf_create(const struct udmabuf_create *arg)
{
	struct file *memfd = fget(arg->memfd);
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *buf;
	struct buffer *b;
	int fd;

	if (!memfd)
		return -EBADF;
	b = buffer_of(memfd, arg->offset, arg->size);
	fput(memfd);
	if (IS_ERR(b))
		return PTR_ERR(b);
	info.ops = &buffer_ops;
	info.size = arg->size;
	info.priv = b;
	info.flags = O_RDWR;
	buf = dma_buf_export(&info);
	if (IS_ERR(buf)) {
		buffer_free(b);
		return PTR_ERR(buf);
	}
	fd = dma_buf_fd(buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buf);
	return fd;
}

static long udmabuf_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	struct udmabuf_create arg;

	if (cmd != UDMABUF_CREATE)
		return -ENOTTY;
	if (copy_from_user(&arg, (void __user *)uarg, sizeof(arg)))
		return -EFAULT;
	return udmabuf_create(&arg);
}

static const struct file_operations udmabuf_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = udmabuf_ioctl,
};

static struct miscdevice udmabuf_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "udmabuf",
	.fops = &udmabuf_fops,
	.mode = 0600,
};

module_misc_device(udmabuf_misc);

MODULE_DESCRIPTION("dma-bufs of memfds, for tests");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DMA_BUF);
