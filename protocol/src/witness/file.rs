use super::{FORMAT, Witness};
use crate::hash::fnv1a;
use alloc::format;
use alloc::string::{String, ToString};

const HEAD: &str = "raddle witness ";
const FOOT: &str = "checksum ";
/// Bytes of the last line: [`FOOT`], 16 digits, end of line.
const FOOT_LEN: usize = FOOT.len() + 16 + 1;

/// Why a file is not a usable witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The first line is not that of a witness.
    NotAWitness,
    /// A version that this program does not read.
    Version(u32),
    /// The end is missing.
    Truncated,
    /// The checksum does not fit.
    Corrupt,
    /// Complete and intact, but the content makes no sense.
    Malformed(String),
}

impl core::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            DecodeError::NotAWitness => write!(f, "this is not a raddle witness"),
            DecodeError::Version(found) => write!(
                f,
                "the witness is of format version {found}, this raddle reads versions 1 to {FORMAT}"
            ),
            DecodeError::Truncated => write!(f, "the witness is truncated: its end is missing"),
            DecodeError::Corrupt => {
                write!(f, "the witness is corrupt: its checksum does not fit")
            }
            DecodeError::Malformed(why) => write!(f, "the witness is malformed: {why}"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// The file's text.
pub fn encode(witness: &Witness) -> String {
    let body = serde_json::to_string(witness).expect("plain data always has a JSON form");
    let mut text = format!("{HEAD}{FORMAT}\n{body}\n");
    let sum = fnv1a(text.as_bytes());
    text.push_str(&format!("{FOOT}{sum:016x}\n"));
    text
}

/// Reads a file's content; never panics, whatever the bytes are.
pub fn decode(file: &[u8]) -> Result<Witness, DecodeError> {
    let version = version(file)?;
    if !(1..=FORMAT).contains(&version) {
        return Err(DecodeError::Version(version));
    }
    let at = file
        .len()
        .checked_sub(FOOT_LEN)
        .ok_or(DecodeError::Truncated)?;
    let (content, foot) = file.split_at(at);
    let sum = foot
        .strip_prefix(FOOT.as_bytes())
        .and_then(|rest| rest.strip_suffix(b"\n"))
        .and_then(|digits| core::str::from_utf8(digits).ok())
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or(DecodeError::Truncated)?;
    if fnv1a(content) != sum {
        return Err(DecodeError::Corrupt);
    }
    let body = content
        .iter()
        .position(|&b| b == b'\n')
        .map(|end| &content[end + 1..])
        .ok_or(DecodeError::Truncated)?;
    let witness: Witness =
        serde_json::from_slice(body).map_err(|e| DecodeError::Malformed(e.to_string()))?;
    witness
        .consistent()
        .map_err(|why| DecodeError::Malformed(why.to_string()))?;
    Ok(witness)
}

fn version(file: &[u8]) -> Result<u32, DecodeError> {
    let head = HEAD.as_bytes();
    let Some(rest) = file.strip_prefix(head) else {
        let cut_in_head = !file.is_empty() && head.starts_with(file);
        return Err(if cut_in_head {
            DecodeError::Truncated
        } else {
            DecodeError::NotAWitness
        });
    };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    match rest.get(digits) {
        None => Err(DecodeError::Truncated),
        Some(b'\n') => core::str::from_utf8(&rest[..digits])
            .ok()
            .and_then(|d| d.parse().ok())
            .ok_or(DecodeError::NotAWitness),
        Some(_) => Err(DecodeError::NotAWitness),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
