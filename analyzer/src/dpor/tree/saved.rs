//! A tree as a row of numbers. Steps are listed once and named by their place: they recur in the
//! sleep sets all the way down.

use super::{Branch, Leaf, Node, ROOT, Sequence, Tree, Wakeup, dismantle};
use crate::dpor::races::{Item, Last};
use crate::words::{Row, put_list};
use raddle_protocol::conflict::{Access, Footprint, Part};
use std::collections::{BTreeSet, HashMap};

/// Steps in the order in which they were met.
#[derive(Default)]
struct Steps<'a> {
    known: HashMap<&'a Item, u64>,
    row: Vec<u64>,
}

impl<'a> Steps<'a> {
    fn name(&mut self, item: &'a Item) -> u64 {
        let next = self.known.len() as u64;
        *self.known.entry(item).or_insert_with(|| {
            put_item(&mut self.row, item);
            next
        })
    }
}

fn put_item(row: &mut Vec<u64>, item: &Item) {
    row.extend([item.thread, item.outcomes, u16::from(item.seen)].map(u64::from));
    put_list(row, &item.picks, |row, &pick| row.push(u64::from(pick)));
    let Footprint {
        thread,
        marks,
        about,
        pad: _,
        parts,
    } = item.foot;
    row.extend([thread, marks, about].map(u64::from));
    for part in parts {
        row.extend([part.first, part.end]);
        row.extend([part.space, part.access].map(u64::from));
    }
}

fn take_item(row: &mut Row<'_>) -> Option<Item> {
    let (thread, outcomes, seen) = (row.number()?, row.number()?, row.flag()?);
    let picks = row.list(Row::number)?;
    let (actor, marks, about) = (row.number()?, row.number()?, row.number()?);
    let mut part = || {
        let part = Part {
            first: row.number()?,
            end: row.number()?,
            space: row.number()?,
            access: row.number()?,
        };
        Access::of(part.access).map(|_| part)
    };
    let foot = Footprint {
        thread: actor,
        marks,
        about,
        pad: 0,
        parts: [part()?, part()?, part()?],
    };
    Some(Item {
        thread,
        picks,
        outcomes,
        foot,
        seen,
    })
}

impl Tree {
    /// All of the tree that is not finished. `under_way`: leaves of executions of which nothing is
    /// known yet; they are to be run again.
    pub fn save(&self, under_way: &[Leaf]) -> Vec<u64> {
        let alive = self.nodes.iter().enumerate();
        let alive: Vec<(usize, &Node)> = alive
            .filter_map(|(i, node)| Some((i, node.as_ref()?)))
            .collect();
        let places: HashMap<usize, u64> = alive.iter().map(|n| n.0).zip(0..).collect();
        let mut names = Steps::default();
        let steps = &mut names;
        let mut row = vec![u64::from(self.occurring), alive.len() as u64];
        for (_, node) in &alive {
            row.extend([places[&node.parent], node.depth as u64]);
            row.push(steps.name(&node.item));
            put_list(&mut row, &node.sleep, |row, item| {
                row.push(steps.name(item))
            });
            put_list(&mut row, &node.started, |row, branch| {
                row.push(steps.name(&branch.item));
                row.push(branch.node.map_or(0, |n| places[&n] + 1));
                put_sequences(row, &branch.deferred, steps);
            });
            put_wakeups(&mut row, &node.pending, steps);
        }
        let again: Vec<Leaf> = [&self.again, under_way].concat();
        put_list(&mut row, &again, |row, leaf| {
            let from = leaf.from as u64;
            row.extend([places[&leaf.node], u64::from(leaf.tentative), from]);
        });
        let mut whole = vec![names.known.len() as u64];
        whole.append(&mut names.row);
        whole.append(&mut row);
        whole
    }

    /// Inverse of [`Tree::save`].
    pub fn restore(source: bool, row: &mut Row<'_>) -> Option<Tree> {
        let items = row.list(take_item)?;
        let item = |row: &mut Row<'_>| Some(items[row.index(items.len())?].clone());
        let occurring = row.flag()?;
        let count: usize = row.number()?;
        let mut nodes = Vec::new();
        for _ in 0..count {
            nodes.push(Node {
                parent: row.index(count)?,
                depth: row.number()?,
                item: item(row)?,
                sleep: row.list(item)?,
                started: row.list(|row| {
                    let item = item(row)?;
                    Some(Branch {
                        item,
                        node: row.index(count + 1)?.checked_sub(1),
                        deferred: take_sequences(row, &items)?,
                    })
                })?,
                pending: take_wakeups(row, &items)?,
                running: false,
            });
        }
        let again = row.list(|row| {
            Some(Leaf {
                node: row.index(count)?,
                tentative: row.flag()?,
                from: row.number()?,
            })
        })?;
        again
            .iter()
            .for_each(|leaf| nodes[leaf.node].running = true);
        is_tree(&nodes).then_some(())?;
        let pending = |(i, node): (usize, &Node)| {
            let ready = !node.pending.is_empty();
            ready.then_some((node.depth, i))
        };
        let ready: BTreeSet<_> = nodes.iter().enumerate().filter_map(pending).collect();
        let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
        if nodes.is_empty() {
            nodes.push(None);
        }
        Some(Tree {
            nodes,
            free: Vec::new(),
            ready,
            again,
            source,
            occurring,
        })
    }
}

/// Do the nodes hang together?
fn is_tree(nodes: &[Node]) -> bool {
    let linked = |(i, node): (usize, &Node)| {
        let place = match i {
            ROOT => node.depth == 0,
            _ => node.depth == nodes[node.parent].depth.saturating_add(1),
        };
        let mut below = node.started.iter().filter_map(|b| b.node);
        place && below.all(|child| child != ROOT && nodes[child].parent == i)
    };
    nodes.iter().enumerate().all(linked)
}

/// Each branch, how many there are below it, and then those. Not by recursion: chains of branches are
/// as long as executions.
fn put_wakeups<'a>(row: &mut Vec<u64>, wakeups: &'a [Wakeup], steps: &mut Steps<'a>) {
    row.push(wakeups.len() as u64);
    let mut open = vec![wakeups.iter()];
    while let Some(level) = open.last_mut() {
        let Some(wakeup) = level.next() else {
            open.pop();
            continue;
        };
        row.extend([steps.name(&wakeup.item), wakeup.last as u64]);
        put_sequences(row, &wakeup.deferred, steps);
        row.push(wakeup.children.len() as u64);
        open.push(wakeup.children.iter());
    }
}

fn take_wakeups(row: &mut Row<'_>, items: &[Item]) -> Option<Vec<Wakeup>> {
    let mut levels = Levels(vec![(row.number()?, Vec::new())]);
    loop {
        let (left, level) = levels.0.last_mut()?;
        if *left > 0 {
            *left -= 1;
            level.push(Wakeup {
                item: items[row.index(items.len())?].clone(),
                last: take_last(row)?,
                deferred: take_sequences(row, items)?,
                children: Vec::new(),
            });
            levels.0.push((row.number()?, Vec::new()));
            continue;
        }
        let (_, whole) = levels.0.pop()?;
        match levels.0.last_mut().and_then(|(_, above)| above.last_mut()) {
            Some(branch) => branch.children = whole,
            None => return Some(whole),
        }
    }
}

/// Branches that are being read, from the first on: how many are still to come, and those that have
/// been read. Where the row is none, they are dropped as [`dismantle`] does.
struct Levels(Vec<(u64, Vec<Wakeup>)>);

impl Drop for Levels {
    fn drop(&mut self) {
        let levels = self.0.drain(..);
        dismantle(levels.flat_map(|(_, level)| level).collect());
    }
}

fn put_sequences<'a>(row: &mut Vec<u64>, sequences: &'a [Sequence], steps: &mut Steps<'a>) {
    row.push(sequences.len() as u64);
    for (items, last) in sequences {
        row.extend([*last as u64, items.len() as u64]);
        row.extend(items.iter().map(|item| steps.name(item)));
    }
}

fn take_sequences(row: &mut Row<'_>, items: &[Item]) -> Option<Vec<Sequence>> {
    row.list(|row| {
        let last = take_last(row)?;
        let named = row.list(|row| Some(items[row.index(items.len())?].clone()))?;
        Some((named, last))
    })
}

fn take_last(row: &mut Row<'_>) -> Option<Last> {
    let all = [Last::Possible, Last::Tentative, Last::Ends];
    Some(all[row.index(all.len())?])
}
