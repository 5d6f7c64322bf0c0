//! The memory allocator: mimalloc. glibc's retains far more memory with objects of all sizes on
//! several threads; musl's is also slow. All unsafe code of the crate is here.

#![expect(unsafe_code, reason = "an allocator is unsafe to write")]

use std::{
    alloc::{GlobalAlloc, Layout},
    ptr::NonNull,
};

use mimalloc::MiMalloc;
use nix::{
    libc::c_void,
    sys::mman::{MmapAdvise, madvise},
};

/// Large zeroed allocations stay nonresident until they are written; mimalloc would write zeros to
/// reused memory.
pub(crate) struct Allocator;

// SAFETY: only zeroing differs from mimalloc, which keeps the promises.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are the same.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the same.
        unsafe { MiMalloc.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are the same.
        unsafe { MiMalloc.realloc(memory, layout, size) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() < LARGE {
            // SAFETY: the caller's promises are the same.
            return unsafe { MiMalloc.alloc_zeroed(layout) };
        }
        // SAFETY: the caller's promises are the same.
        let memory = unsafe { MiMalloc.alloc(layout) };
        if !memory.is_null() {
            // SAFETY: this block of `size` bytes was just allocated, and there are no other references to it.
            unsafe { make_zero(memory, layout.size()) }
        }
        memory
    }
}

/// Zeroes this memory. Returns its whole pages to the kernel, which zeroes them on their next use.
///
/// # Safety
/// The memory must be valid for writes and belong to a private anonymous mapping.
unsafe fn make_zero(memory: *mut u8, size: usize) {
    let head = memory.align_offset(PAGE).min(size);
    let pages = (size - head) / PAGE * PAGE;
    // SAFETY: the offset is within the memory.
    let first = unsafe { memory.add(head) };
    // SAFETY: these pages contain no data that is referenced.
    let is_given = NonNull::new(first.cast::<c_void>())
        .is_some_and(|page| pages > 0 && unsafe { madvise(page, pages, MmapAdvise::MADV_DONTNEED) }.is_ok());
    let given = if is_given { pages } else { 0 };
    // SAFETY: the ranges before and after the returned pages are within the memory.
    unsafe {
        memory.write_bytes(0, head);
        first.add(given).write_bytes(0, size - head - given);
    }
}

/// Above this size, writing zeros costs more than a system call.
const LARGE: usize = 1 << 20;

/// A multiple of the page size of all supported machines.
const PAGE: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_memory_that_was_used_before_comes_back_as_zero() {
        for size in [LARGE - 1, LARGE, LARGE + 1, 3 * LARGE + 4321] {
            for align in [1, 64, 1 << 13] {
                let layout = Layout::from_size_align(size, align).unwrap();
                for _ in 0..4 {
                    // SAFETY: the layout is not empty. The memory is accessed within its bounds and freed
                    // with the same layout.
                    unsafe {
                        let memory = Allocator.alloc_zeroed(layout);
                        let bytes = std::slice::from_raw_parts_mut(memory, size);
                        assert!(bytes.iter().all(|&byte| byte == 0), "{layout:?}");
                        bytes.fill(7);
                        Allocator.dealloc(memory, layout);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_around_the_pages_is_made_zero_and_nothing_else() {
        let mut memory = vec![7_u8; 5 * PAGE];
        for (from, size) in [(1, 3 * PAGE), (PAGE, 2 * PAGE), (100, 50), (0, 5 * PAGE)] {
            memory.fill(7);
            // SAFETY: this part of the vector is exclusively borrowed and anonymous.
            unsafe { make_zero(memory.as_mut_ptr().add(from), size) };
            let zeros = memory.iter().filter(|&&byte| byte == 0).count();
            assert!(memory[from..from + size].iter().all(|&byte| byte == 0));
            assert_eq!(zeros, size);
        }
    }
}
