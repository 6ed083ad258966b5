//! Construction of expression nodes in the shared region. Equal nodes are mostly the same node: a
//! cache remembers the latest one of every hash.

use core::sync::atomic::{AtomicU64, Ordering};
use raddle_protocol::expr::{Node, Op};

/// An expression; 0: concrete.
pub type Expr = u32;

const CACHE: usize = 1 << 16;

/// Where the nodes are.
pub struct Nodes {
    nodes: *mut Node,
    capacity: usize,
    len: usize,
    /// The number of nodes as others see it.
    published: *const AtomicU64,
    cache: *mut Expr,
    /// Of each node, does it depend on an input?
    inputs: *mut bool,
    /// Was there no room for a node?
    full: bool,
    /// No more nodes are wanted.
    closed: bool,
}

impl Nodes {
    /// Nowhere: every expression is concrete.
    pub const fn none() -> Nodes {
        Nodes {
            nodes: core::ptr::null_mut(),
            capacity: 0,
            len: 1,
            published: core::ptr::null(),
            cache: core::ptr::null_mut(),
            inputs: core::ptr::null_mut(),
            full: false,
            closed: false,
        }
    }

    /// Room for `capacity` nodes at `nodes`.
    ///
    /// # Safety
    /// The nodes and the published length stay where they are, for the caller alone to write.
    pub unsafe fn new(nodes: *mut Node, capacity: usize, published: *const AtomicU64) -> Nodes {
        // SAFETY: by the contract above.
        unsafe { (*published).store(1, Ordering::Relaxed) };
        Nodes {
            nodes,
            capacity,
            len: 1,
            published,
            cache: crate::os::map_memory(CACHE * size_of::<Expr>()).cast(),
            inputs: crate::os::map_memory(capacity).cast(),
            full: false,
            closed: false,
        }
    }

    /// Was a node lost for lack of room since the last question?
    pub fn take_full(&mut self) -> bool {
        core::mem::take(&mut self.full)
    }

    /// What is not there yet is concrete from now on, and no lack of room.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The node of an expression that this made; a constant 0 for any other number, which a broken
    /// program may pass.
    pub fn get(&self, expr: Expr) -> Node {
        if expr == 0 || expr as usize >= self.len {
            return Node::constant(64, 0);
        }
        // SAFETY: below `len`, so it was written.
        unsafe { *self.nodes.add(expr as usize) }
    }

    /// Is it a number that this handed out?
    pub fn is_known(&self, expr: Expr) -> bool {
        expr != 0 && (expr as usize) < self.len
    }

    /// The value of a constant.
    pub fn constant_of(&self, expr: Expr) -> Option<u64> {
        let node = self.get(expr);
        (expr != 0 && node.op() == Some(Op::Const)).then(|| node.constant_value())
    }

    /// Adds a node as it is; 0 if there is no room.
    pub fn add(&mut self, node: Node) -> Expr {
        if self.capacity == 0 {
            return 0;
        }
        let place = hash(&node) % CACHE;
        // SAFETY: the cache has `CACHE` entries.
        let cached = unsafe { &mut *self.cache.add(place) };
        if *cached != 0 {
            // SAFETY: the cache holds handed-out numbers.
            if unsafe { *self.nodes.add(*cached as usize) } == node {
                return *cached;
            }
        }
        if self.closed || self.len >= self.capacity {
            self.full = !self.closed;
            return 0;
        }
        let expr = self.len as Expr;
        // SAFETY: below the capacity.
        unsafe { self.nodes.add(self.len).write(node) };
        let inputs = match node.op() {
            Some(Op::Input) => true,
            op => {
                let operands = [node.a, node.b, node.c].into_iter();
                let mut operands = operands.take(op.map_or(0, Op::arity));
                operands.any(|operand| self.depends_on_inputs(operand))
            }
        };
        // SAFETY: as above; the memory is zero.
        unsafe { self.inputs.add(self.len).write(inputs) };
        *cached = expr;
        self.len += 1;
        // SAFETY: by the contract of `new`.
        unsafe { (*self.published).store(self.len as u64, Ordering::Release) };
        expr
    }

    /// Does its value depend on an input, in this execution?
    pub fn depends_on_inputs(&self, expr: Expr) -> bool {
        // SAFETY: below `len`, so it was written.
        self.is_known(expr) && unsafe { *self.inputs.add(expr as usize) }
    }

    /// What the read event with this index returned, which may depend on an input.
    pub fn read(&mut self, width: u8, event: u64, inputs: bool) -> Expr {
        if event > u64::from(u32::MAX) {
            self.full = true;
            return 0;
        }
        let expr = self.add(Node {
            op: Op::Read as u8,
            width,
            a: event as u32,
            ..Node::default()
        });
        if expr != 0 && inputs {
            // SAFETY: a node that was written.
            unsafe { self.inputs.add(expr as usize).write(true) };
        }
        expr
    }

    /// A constant; one of more than 64 bits is `value` zero-extended.
    pub fn constant(&mut self, width: u8, value: u64) -> Expr {
        if width > 64 {
            return self.wide_constant(width, value, 0);
        }
        self.add(Node::constant(width, value & mask(width)))
    }

    /// A constant of more than 64 bits, given as two halves. It is no [`Op::Const`] itself.
    pub fn wide_constant(&mut self, width: u8, low: u64, high: u64) -> Expr {
        let low = self.constant(64, low);
        let high = high & mask(width.saturating_sub(64));
        if low == 0 {
            return 0;
        }
        let mut node = Node {
            op: Op::ZExt as u8,
            width,
            a: low,
            ..Node::default()
        };
        if high != 0 {
            let high = self.constant(width - 64, high);
            if high == 0 {
                return 0;
            }
            node = Node {
                op: Op::Concat as u8,
                a: high,
                b: low,
                ..node
            };
        }
        self.add(node)
    }
}

fn hash(node: &Node) -> usize {
    let first = u64::from(node.op)
        | u64::from(node.width) << 8
        | u64::from(node.extra) << 16
        | u64::from(node.a) << 32;
    let second = u64::from(node.b) | u64::from(node.c) << 32;
    let mixed = (first ^ second.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ second.wrapping_mul(0xbf58_476d_1ce4_e5b9)).wrapping_mul(0x94d0_49bb_1331_11eb)
        as usize
        >> 40
}

/// The bits of a value of `width`.
pub const fn mask(width: u8) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}
