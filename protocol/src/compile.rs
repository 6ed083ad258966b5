//! What `raddle cc` tells the compiler plugin, by the environment.

/// The variable that says which functions get symbolic bodies. Users may set it, too.
pub const SYMBOLIC: &str = "RADDLE_CC_SYMBOLIC";

/// Which functions get a symbolic body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbolic {
    /// All that can have one.
    All,
    /// As many as are made in little time.
    Cheap,
    /// None.
    None,
}

impl Symbolic {
    /// Reads the value of [`SYMBOLIC`]; the text is empty where the variable is not set. `None`: it
    /// means nothing.
    pub fn parse(value: &str) -> Option<Symbolic> {
        Some(match value {
            "" => Symbolic::Cheap,
            "1" => Symbolic::All,
            "0" => Symbolic::None,
            _ => return None,
        })
    }

    /// The value of [`SYMBOLIC`] that says so.
    pub fn value(self) -> &'static str {
        match self {
            Symbolic::All => "1",
            Symbolic::Cheap => "",
            Symbolic::None => "0",
        }
    }
}
