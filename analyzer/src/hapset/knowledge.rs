//! What executions have shown, in names that survive a rebuild of the program.
//!
//! A search counts predecessor pairs by addresses ([`crate::search::Search::pairs`]). For keeping,
//! they are put into words: [`Knowledge::add`] takes such counts and a [`Places`], which knows the
//! lines of addresses. A `Knowledge` can be stored (serde), joined with another
//! ([`Knowledge::merge`]), asked ([`Knowledge::contains`], [`Knowledge::counts`]), and handed to a
//! later search, also of a program that was built anew ([`crate::steer::Steer::knowing`]): to that,
//! what is in it is tested already.

use crate::stop;
use crate::words::{Row, put_list, put_text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Line {
    /// Empty where it is not known.
    pub file: String,
    pub line: u32,
    /// Where neither file nor line are known: the module and the distance from its start.
    pub function: String,
}

/// A statement of the program (definition 2): its line, and the calls that led to it, innermost
/// first, as many as the search keeps apart. The paper's `thr`, local or remote, is its place in a
/// pair: the two are always of different threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Statement {
    pub place: Line,
    pub context: Vec<Line>,
}

/// Finds the lines of addresses.
pub trait Places: Send {
    /// The place of the call that returns to `pc`. The same for the same `pc`, every time.
    fn line(&mut self, pc: u64) -> Line;
}

/// A statement by addresses: a return address, and those of its callers, innermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    pub pc: u64,
    pub callers: Vec<u64>,
}

/// A predecessor pair by addresses, and in how many executions it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub before: Code,
    pub after: Code,
    pub executions: u64,
}

/// Number of a statement in one [`Knowledge`].
pub type Id = u32;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Knowledge {
    statements: Vec<Statement>,
    ids: HashMap<Statement, Id>,
    /// Before and after; in how many executions.
    pairs: BTreeMap<(Id, Id), u64>,
}

/// The form that is stored.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    statements: Vec<Statement>,
    pairs: Vec<(Id, Id, u64)>,
}

impl Knowledge {
    /// Takes in what a search has counted: all of it, once. Where a pair of statements has several
    /// pairs of addresses, the one seen most often counts.
    pub fn add(&mut self, pairs: &[Counted], places: &mut dyn Places) {
        let mut most: BTreeMap<(Id, Id), u64> = BTreeMap::new();
        for pair in pairs {
            stop::point();
            let before = self.id_of(&pair.before, places);
            let after = self.id_of(&pair.after, places);
            let executions = most.entry((before, after)).or_default();
            *executions = pair.executions.max(*executions);
        }
        for ((before, after), executions) in most {
            stop::point();
            self.count(before, after, executions);
        }
    }

    /// The statement at these addresses.
    pub fn id_of(&mut self, code: &Code, places: &mut dyn Places) -> Id {
        let statement = Statement {
            place: places.line(code.pc),
            context: code.callers.iter().map(|&pc| places.line(pc)).collect(),
        };
        self.id(statement)
    }

    /// The number of a statement, which is new if need be.
    pub fn id(&mut self, statement: Statement) -> Id {
        if let Some(&known) = self.ids.get(&statement) {
            return known;
        }
        let id = self.statements.len() as Id;
        self.statements.push(statement.clone());
        self.ids.insert(statement, id);
        id
    }

    /// `before` was in so many more executions the predecessor of `after`.
    pub fn count(&mut self, before: Id, after: Id, executions: u64) {
        let count = self.pairs.entry((before, after)).or_default();
        *count = count.saturating_add(executions);
    }

    /// Was the pair seen?
    pub fn contains(&self, before: &Statement, after: &Statement) -> bool {
        let ids = (self.ids.get(before), self.ids.get(after));
        matches!(ids, (Some(&b), Some(&a)) if self.holds(b, a))
    }

    /// [`Knowledge::contains`], by numbers.
    pub fn holds(&self, before: Id, after: Id) -> bool {
        self.pairs.contains_key(&(before, after))
    }

    /// The HaPSet of a statement: what preceded it.
    pub fn set(&self, after: &Statement) -> Vec<&Statement> {
        let Some(&id) = self.ids.get(after) else {
            return Vec::new();
        };
        let before = self.pairs.keys().filter(|pair| pair.1 == id);
        before
            .map(|pair| &self.statements[pair.0 as usize])
            .collect()
    }

    /// Adds all that `other` knows.
    pub fn merge(&mut self, other: &Knowledge) {
        let statements = other.statements.iter().cloned();
        let ids: Vec<Id> = statements.map(|s| self.id(s)).collect();
        for (&(before, after), &executions) in &other.pairs {
            stop::point();
            self.count(ids[before as usize], ids[after as usize], executions);
        }
    }

    /// All pairs: before, after, in how many executions.
    pub fn pairs(&self) -> impl Iterator<Item = (&Statement, &Statement, u64)> {
        let statement = |id: Id| &self.statements[id as usize];
        let all = self.pairs.iter();
        all.map(move |(pair, &n)| (statement(pair.0), statement(pair.1), n))
    }

    /// In how many executions each pair was seen: what estimates of the unseen are made from.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.pairs.values().copied()
    }

    /// How many pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Puts all of it in a row of numbers; statements keep their numbers.
    pub fn put(&self, row: &mut Vec<u64>) {
        let put_line = |row: &mut Vec<u64>, line: &Line| {
            put_text(row, &line.file);
            row.push(u64::from(line.line));
            put_text(row, &line.function);
        };
        put_list(row, &self.statements, |row, statement| {
            put_line(row, &statement.place);
            put_list(row, &statement.context, put_line);
        });
        let pairs: Vec<_> = self.pairs.iter().collect();
        put_list(row, &pairs, |row, &(&(before, after), &executions)| {
            row.extend([u64::from(before), u64::from(after), executions]);
        });
    }

    /// Inverse of [`Knowledge::put`].
    pub fn take(row: &mut Row<'_>) -> Option<Knowledge> {
        let line = |row: &mut Row<'_>| {
            Some(Line {
                file: row.text()?,
                line: row.number()?,
                function: row.text()?,
            })
        };
        let statements = row.list(|row| {
            Some(Statement {
                place: line(row)?,
                context: row.list(line)?,
            })
        })?;
        let mut knowledge = Knowledge::default();
        for (n, statement) in statements.into_iter().enumerate() {
            stop::point();
            (knowledge.id(statement) as usize == n).then_some(())?;
        }
        let count = knowledge.statements.len();
        knowledge.pairs = row
            .list(|row| {
                let pair = (row.index(count)? as Id, row.index(count)? as Id);
                Some((pair, row.number()?))
            })?
            .into_iter()
            .collect();
        Some(knowledge)
    }
}

impl From<Knowledge> for Stored {
    fn from(knowledge: Knowledge) -> Stored {
        let pairs = knowledge.pairs.into_iter();
        Stored {
            statements: knowledge.statements,
            pairs: pairs.map(|((b, a), n)| (b, a, n)).collect(),
        }
    }
}

impl From<Stored> for Knowledge {
    /// Pairs of statements that are not there are left out.
    fn from(stored: Stored) -> Knowledge {
        let mut knowledge = Knowledge::default();
        let ids: Vec<Id> = stored
            .statements
            .into_iter()
            .map(|s| knowledge.id(s))
            .collect();
        for (before, after, n) in stored.pairs {
            stop::point();
            let known = (ids.get(before as usize), ids.get(after as usize));
            if let (Some(&b), Some(&a)) = known {
                knowledge.count(b, a, n);
            }
        }
        knowledge
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32) -> Statement {
        Statement {
            place: Line {
                file: "a.c".to_string(),
                line,
                function: "f".to_string(),
            },
            context: Vec::new(),
        }
    }

    /// Address n is on line n / 10.
    struct Lines;
    impl Places for Lines {
        fn line(&mut self, pc: u64) -> Line {
            at(pc as u32 / 10).place
        }
    }

    fn pair(before: u64, after: u64, executions: u64) -> Counted {
        let code = |pc| Code {
            pc,
            callers: Vec::new(),
        };
        Counted {
            before: code(before),
            after: code(after),
            executions,
        }
    }

    #[test]
    fn addresses_of_one_line_are_one_statement() {
        let mut knowledge = Knowledge::default();
        let counted = [pair(11, 20, 3), pair(12, 21, 4), pair(30, 20, 1)];
        knowledge.add(&counted, &mut Lines);
        assert_eq!(knowledge.len(), 2);
        assert!(knowledge.contains(&at(1), &at(2)));
        assert!(!knowledge.contains(&at(2), &at(1)));
        assert_eq!(knowledge.set(&at(2)), [&at(1), &at(3)]);
        assert_eq!(knowledge.counts().collect::<Vec<_>>(), [4, 1]);
    }

    #[test]
    fn what_two_runs_know_can_be_joined_and_stored() {
        let mut one = Knowledge::default();
        one.add(&[pair(10, 20, 3)], &mut Lines);
        let mut other = Knowledge::default();
        other.add(&[pair(40, 30, 1), pair(10, 20, 2)], &mut Lines);
        one.merge(&other);
        let all: Vec<_> = one
            .pairs()
            .map(|(b, a, n)| (b.place.line, a.place.line, n))
            .collect();
        assert_eq!(all, [(1, 2, 5), (4, 3, 1)]);
        let stored = Stored::from(one.clone());
        assert_eq!(Knowledge::from(stored), one);
    }

    #[test]
    fn numbers_that_make_no_sense_are_left_out() {
        let stored = Stored {
            statements: vec![at(1), at(1), at(2)],
            pairs: vec![(0, 2, 1), (1, 2, 1), (0, 9, 1), (u32::MAX, 0, 1)],
        };
        let knowledge = Knowledge::from(stored);
        let all: Vec<_> = knowledge.pairs().map(|(_, _, n)| n).collect();
        assert_eq!(all, [2]);
    }
}
