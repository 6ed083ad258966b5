//! What moves on a terminal while the search goes on.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A line on standard error; nothing where that is no terminal.
pub struct Progress(ProgressBar, Arc<AtomicU64>);

impl Progress {
    /// `most`: how many executions there will be, if that is known.
    pub fn new(most: Option<u64>, quiet: bool) -> Progress {
        let bar = match most {
            Some(most) => ProgressBar::new(most),
            None => ProgressBar::no_length(),
        };
        let template = match most {
            Some(_) => "  {bar:30} {pos}/{len} executions, {rate} a second, {pairs}{msg}",
            None => "  {spinner} {elapsed}: {pos} executions, {rate} a second, {pairs}{msg}",
        };
        let pairs = Arc::new(AtomicU64::new(0));
        let shown = pairs.clone();
        let style = ProgressStyle::with_template(template)
            .expect("the template is constant")
            .with_key("rate", |state: &ProgressState, text: &mut dyn Write| {
                // Writing to a string cannot fail.
                let _ = write!(text, "{:.0}", state.per_sec());
            })
            .with_key("pairs", move |_: &ProgressState, text: &mut dyn Write| {
                let pairs = shown.load(Ordering::Relaxed);
                if pairs > 0 {
                    let _ = write!(text, "{pairs} predecessor pairs, ");
                }
            });
        bar.set_style(style);
        bar.set_draw_target(match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(5),
        });
        bar.set_message("no findings");
        if !quiet {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Progress(bar, pairs)
    }

    /// So many executions are done.
    pub fn executions(&self, n: u64) {
        self.0.set_position(n);
    }

    /// So many predecessor pairs have been seen, if the search counts them.
    pub fn pairs(&self, seen: Option<usize>) {
        self.1.store(seen.unwrap_or(0) as u64, Ordering::Relaxed);
    }

    pub fn say(&self, message: String) {
        self.0.set_message(message);
    }

    /// Runs `f`, which prints, with the line out of the way.
    pub fn aside<R>(&self, f: impl FnOnce() -> R) -> R {
        self.0.suspend(f)
    }

    /// Takes the line away.
    pub fn done(self) {
        self.0.finish_and_clear();
    }
}
