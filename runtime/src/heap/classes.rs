//! Size classes: multiples of 16 up to 256, then four per doubling up to half a chunk.

/// Bytes of a chunk, the unit in which an arena hands out address space.
pub const CHUNK: usize = 64 << 10;
/// Largest slot that lies in a chunk with others; what is bigger has chunks of its own.
pub const LARGEST: usize = CHUNK / 2;
/// How many classes there are.
pub const COUNT: usize = 42;

const SMALLEST: usize = 48;
const FINE: usize = 256;
const FINE_CLASSES: usize = (FINE - SMALLEST) / 16 + 1;

/// Bytes of a slot of each class.
pub const SLOT: [u32; COUNT] = {
    let mut sizes = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        sizes[i] = if i < FINE_CLASSES {
            (SMALLEST + 16 * i) as u32
        } else {
            let beyond = i - FINE_CLASSES;
            ((beyond % 4 + 5) << (beyond / 4 + 6)) as u32
        };
        i += 1;
    }
    sizes
};

/// `ceil(2^32 / slot)`: a multiplication instead of a division. Exact for offsets below 2^16.
const RECIPROCAL: [u64; COUNT] = {
    let mut r = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        r[i] = (1u64 << 32).div_ceil(SLOT[i] as u64);
        i += 1;
    }
    r
};

/// The class whose slots hold `total` bytes; `None` when it needs chunks of its own.
pub fn class_of(total: usize) -> Option<usize> {
    if total <= FINE {
        return Some(total.max(SMALLEST).div_ceil(16) - SMALLEST / 16);
    }
    if total > LARGEST {
        return None;
    }
    let last = total - 1;
    let top = last.ilog2() as usize;
    let quarter = (last >> (top - 2)) & 3;
    Some(FINE_CLASSES + (top - 8) * 4 + quarter)
}

/// Which slot of a chunk of `class` holds the byte at `offset` in the chunk.
pub fn index_of(class: usize, offset: usize) -> usize {
    ((offset as u64 * RECIPROCAL[class]) >> 32) as usize
}

/// How many slots a chunk of `class` has.
pub fn per_chunk(class: usize) -> usize {
    CHUNK / SLOT[class] as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_gets_the_tightest_class() {
        for total in 1..=LARGEST {
            let class = class_of(total).expect("small");
            assert!(SLOT[class] as usize >= total, "{total}");
            assert!(class == 0 || (SLOT[class - 1] as usize) < total, "{total}");
        }
        assert_eq!(class_of(LARGEST + 1), None);
        assert_eq!(SLOT[COUNT - 1] as usize, LARGEST);
        assert!(SLOT.iter().all(|s| s % 16 == 0));
    }

    #[test]
    fn reciprocals_divide_exactly() {
        for (class, &slot) in SLOT.iter().enumerate() {
            for offset in 0..CHUNK {
                assert_eq!(index_of(class, offset), offset / slot as usize);
            }
        }
    }
}
