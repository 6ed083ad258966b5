//! `raddle coverage`: what a corpus directory holds, and how much may be left.

use crate::corpus::{ProgramView, Seen, View};
use crate::error::Result;
use crate::report::Style;
use crate::summary::count;
use crate::terminal::visible;
use std::path::Path;

/// Reads the corpus of `dir`.
pub fn read(dir: &Path) -> Result<View> {
    View::read(dir)
}

/// What people see. A corpus may come from anybody, so every text of it is made visible.
pub fn text(view: &View, style: Style) -> String {
    if view.programs.is_empty() {
        return "nothing has been run with this corpus\n".to_string();
    }
    let programs: Vec<String> = view.programs.iter().map(|p| program(p, style)).collect();
    programs.join("\n")
}

fn program(view: &ProgramView, style: Style) -> String {
    let mut text = format!("{}\n", style.bold(&visible(&view.program)));
    text.push_str(&format!("  {}\n", count(view.executions, "execution")));
    text.push_str(&format!(
        "  {} in {} looked at{}\n",
        count(view.pairs.seen, "predecessor pair"),
        count(view.recorded, "execution"),
        left(&view.pairs, "pair"),
    ));
    if let (Some(first), Some(last)) = (view.growth.first(), view.growth.last()) {
        let values: Vec<u64> = view.growth.iter().map(|p| p.pairs).collect();
        text.push_str(&format!(
            "    growth {} ({} after {}, {} after {} executions, of which {} {} looked at)\n",
            sparkline(&values),
            first.pairs,
            first.executions,
            last.pairs,
            last.executions,
            view.recorded,
            if view.recorded == 1 { "was" } else { "were" },
        ));
    }
    for test in &view.tests {
        let explored = test.series.iter().any(|series| series.explored.is_some());
        text.push_str(&format!(
            "  {} (build {}, last used {} UTC)\n    {} in {}{}\n",
            visible(&test.command),
            visible(&test.build),
            visible(&test.last_used),
            count(test.interleavings.seen, "interleaving"),
            count(test.executions, "execution"),
            match explored {
                true => String::new(),
                false => left(&test.interleavings, "interleaving"),
            },
        ));
        for series in &test.series {
            let explored = match &series.explored {
                Some(when) => format!(", explored to the end {} UTC", visible(when)),
                None => String::new(),
            };
            text.push_str(&format!(
                "    policy {}, seed {}: {}{explored}\n",
                visible(&series.policy),
                series.seed,
                count(series.executions, "execution"),
            ));
        }
    }
    for f in &view.findings {
        text.push_str(&format!(
            "  {} {}: {}\n    in {}, first {} UTC, last {} UTC; {}\n",
            style.red(&visible(&f.class)),
            visible(&f.fingerprint),
            visible(&f.message),
            count(f.seen, "execution"),
            visible(&f.first_seen),
            visible(&f.last_seen),
            visible(
                f.witness
                    .as_deref()
                    .unwrap_or("its witness is in the corpus only")
            ),
        ));
    }
    text
}

/// The estimates, in words.
fn left(seen: &Seen, what: &str) -> String {
    let (Some(mass), Some(total)) = (seen.unseen_mass, seen.estimated_total) else {
        return match seen.seen {
            0 => String::new(),
            _ => "; too many to keep, so there is no estimate of what is left".to_string(),
        };
    };
    let new = match mass {
        mass if mass > 2.0 / 3.0 => "nearly every one".to_string(),
        mass if mass > 0.0 => format!("about 1 in {:.0}", 1.0 / mass),
        _ => "none".to_string(),
    };
    format!(
        "\n    next executions expected to show a new {what}: {new}; in all at least about {total:.0}"
    )
}

/// One character a value, from the lowest to the highest.
fn sparkline(values: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = values.iter().copied().max().unwrap_or(0).max(1);
    let bar = |value: &u64| BARS[((value * 7).div_ceil(most) as usize).min(7)];
    values.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparklines_go_from_low_to_high() {
        let table: [(&[u64], &str); 4] = [
            (&[], ""),
            (&[0, 0], "▁▁"),
            (&[1, 4, 7], "▂▅█"),
            (&[1, 1000], "▂█"),
        ];
        for (values, line) in table {
            assert_eq!(sparkline(values), line);
        }
    }
}
