//! One name for all failures that are the same bug.

/// The fingerprint of a finding: 16 hexadecimal digits that depend on the class and on the *set*
/// of sites only. Sites are texts that survive a rebuild, such as `file:line:function`; addresses
/// do not belong there.
pub fn of(class: &str, sites: &[String]) -> String {
    let mut sites: Vec<&str> = sites.iter().map(String::as_str).collect();
    sites.sort_unstable();
    sites.dedup();
    let mut hash = Fnv::default();
    hash.text(class);
    for site in sites {
        hash.text(site);
    }
    format!("{:016x}", hash.0)
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// The terminator keeps ("ab", "c") apart from ("a", "bc").
    fn text(&mut self, text: &str) {
        text.bytes().for_each(|b| self.byte(b));
        self.byte(0xff);
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    fn sites(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| s.to_string()).collect()
    }

    #[test]
    fn fnv_reference_value() {
        let mut hash = super::Fnv::default();
        b"foobar".iter().for_each(|&b| hash.byte(b));
        assert_eq!(hash.0, 0x8594_4171_f739_67e8);
    }

    #[test]
    fn same_and_different() {
        type Row<'a> = (&'a str, &'a [&'a str], &'a str, &'a [&'a str], bool);
        let table: &[Row] = &[
            (
                "crash",
                &["a:1:f", "b:2:g"],
                "crash",
                &["b:2:g", "a:1:f"],
                true,
            ),
            ("crash", &["a:1:f", "a:1:f"], "crash", &["a:1:f"], true),
            ("crash", &["a:1:f"], "deadlock", &["a:1:f"], false),
            ("crash", &["a:1:f"], "crash", &["a:2:f"], false),
            ("crash", &["ab", "c"], "crash", &["a", "bc"], false),
            ("crash", &[], "crash", &[""], false),
        ];
        for (class, left, other, right, same) in table {
            let equal = of(class, &sites(left)) == of(other, &sites(right));
            assert_eq!(equal, *same, "{class} {left:?} {other} {right:?}");
        }
    }

    #[test]
    fn form() {
        let f = of("race", &sites(&["x.c:3:main"]));
        assert_eq!(f.len(), 16);
        assert!(f.bytes().all(|b| b.is_ascii_hexdigit()));
    }
}
