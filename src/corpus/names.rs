//! From addresses in one build to statements that the next one has as well.

use super::batch::{Pair, PairSeen};
use crate::report::base_name;
use crate::symbols::Symbols;
use raddle_analyzer::hapset::knowledge::{Line, Places, Statement};
use raddle_scheduler::Module;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The lines of a program's addresses.
pub struct Names {
    modules: Vec<Module>,
    program: PathBuf,
    /// Made when first needed.
    symbols: Option<Symbols>,
    known: HashMap<u64, Line>,
}

impl Names {
    pub fn new(modules: &[Module], program: &Path) -> Names {
        Names {
            modules: modules.to_vec(),
            program: program.to_owned(),
            symbols: None,
            known: HashMap::new(),
        }
    }

    /// Another one of the same program.
    pub fn again(&self) -> Names {
        Names::new(&self.modules, &self.program)
    }

    /// The same pairs by statements. Several addresses of one line are one statement: in how many
    /// executions any of them was seen is not known exactly, but at least in as many as the most
    /// frequent.
    pub fn statements(
        &mut self,
        pairs: &HashMap<Pair, PairSeen>,
    ) -> BTreeMap<(Statement, Statement), PairSeen> {
        let mut named: BTreeMap<(Statement, Statement), PairSeen> = BTreeMap::new();
        for (&(before, after), seen) in pairs {
            let key = (self.statement(before), self.statement(after));
            let kept = named.entry(key).or_insert(*seen);
            kept.times = kept.times.max(seen.times);
            kept.first = kept.first.min(seen.first);
        }
        named
    }

    fn statement(&mut self, pc: u64) -> Statement {
        Statement {
            place: self.line(pc),
            context: Vec::new(),
        }
    }

    fn resolve(&mut self, pc: u64) -> Line {
        let symbols = self
            .symbols
            .get_or_insert_with(|| Symbols::new(&self.modules, &self.program));
        let index = symbols.site(pc);
        let site = &symbols.sites()[index as usize];
        let frame = &site.frames[site.shown as usize];
        let function = frame.function.as_deref().unwrap_or("?");
        if let (Some(file), Some(line)) = (&frame.file, frame.line) {
            return Line {
                file: file.clone(),
                line,
                function: function.to_string(),
            };
        }
        // Without lines only the address tells statements apart; it is good for this build.
        let module = site.module.and_then(|m| symbols.module_path(m));
        let module = module.map(|path| path.to_string_lossy());
        let module = base_name(module.as_deref().unwrap_or_default());
        Line {
            file: String::new(),
            line: 0,
            function: format!("{module}+{:#x}", site.offset),
        }
    }
}

impl Places for Names {
    fn line(&mut self, pc: u64) -> Line {
        if let Some(known) = self.known.get(&pc) {
            return known.clone();
        }
        let line = self.resolve(pc);
        self.known.insert(pc, line.clone());
        line
    }
}
