//! Which steps touched what.

use raddle_protocol::conflict::{Footprint, Part};
use raddle_protocol::uses::Uses;
use std::collections::HashMap;

/// Finds those steps that may conflict without looking at all of them.
#[derive(Debug, Default)]
pub struct Touched {
    /// By eight bytes of a space.
    near: HashMap<(u32, u64), Vec<u32>>,
    /// Those that touch too much.
    wide: Vec<u32>,
    all: u32,
}

/// Bytes of a part that is entered piece by piece.
const PIECES: u64 = 64;

impl Touched {
    fn pieces(foot: &Footprint) -> Option<impl Iterator<Item = (u32, u64)> + '_> {
        let is_wide = |p: &Part| p.uses().is_none() && p.end - p.first > PIECES;
        let wide = foot.marks != 0 || foot.parts.iter().any(is_wide);
        (!wide).then(|| {
            let parts = foot.parts.iter().filter(|p| p.first < p.end);
            parts.flat_map(|p| {
                let uses = p.uses();
                let bytes = match uses {
                    Some(_) => None,
                    None => Some(p.first >> 3..=(p.end - 1) >> 3),
                };
                let places = uses.into_iter().flat_map(Uses::iter);
                let places = places.map(|(place, _)| place as u64);
                bytes
                    .into_iter()
                    .flatten()
                    .chain(places)
                    .map(move |piece| (p.space, piece))
            })
        })
    }

    /// Enters the next step.
    pub fn add(&mut self, index: usize, foot: &Footprint) {
        debug_assert_eq!(self.all as usize, index);
        self.all = index as u32 + 1;
        match Touched::pieces(foot) {
            None => self.wide.push(index as u32),
            Some(pieces) => {
                for piece in pieces {
                    self.near.entry(piece).or_default().push(index as u32);
                }
            }
        }
    }

    /// Steps that may conflict with one of this footprint, last first; all that do are among them.
    pub fn candidates(&self, foot: &Footprint) -> Vec<usize> {
        let Some(pieces) = Touched::pieces(foot) else {
            return (0..self.all as usize).rev().collect();
        };
        let mut found: Vec<u32> = self.wide.clone();
        for piece in pieces {
            found.extend(self.near.get(&piece).into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().rev().map(|i| i as usize).collect()
    }
}
