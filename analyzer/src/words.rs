//! Rows of numbers: the form in which searches and what belongs to them are stored.

/// Puts a text in a row: its length in bytes, then eight bytes a number.
pub fn put_text(row: &mut Vec<u64>, text: &str) {
    row.push(text.len() as u64);
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        row.push(u64::from_le_bytes(word));
    }
}

/// Puts a list in a row: its length, then what `put` makes of each.
pub fn put_list<'a, T>(
    row: &mut Vec<u64>,
    list: &'a [T],
    mut put: impl FnMut(&mut Vec<u64>, &'a T),
) {
    row.push(list.len() as u64);
    for item in list {
        put(row, item);
    }
}

/// Takes a row apart; every answer is `None` where the row does not hold such a thing.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a>(pub &'a [u64]);

impl<'a> Row<'a> {
    /// The next number, if it fits.
    pub fn number<T: TryFrom<u64>>(&mut self) -> Option<T> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        T::try_from(first).ok()
    }

    pub fn flag(&mut self) -> Option<bool> {
        match self.number::<u64>()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A number below `end`.
    pub fn index(&mut self, end: usize) -> Option<usize> {
        self.number().filter(|&n| n < end)
    }

    /// So many numbers.
    pub fn take(&mut self, count: usize) -> Option<&'a [u64]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Inverse of [`put_text`].
    pub fn text(&mut self) -> Option<String> {
        let len: usize = self.number()?;
        let words = self.take(len.div_ceil(8))?;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(len);
        String::from_utf8(bytes).ok()
    }

    /// Inverse of [`put_list`].
    pub fn list<T>(&mut self, mut take: impl FnMut(&mut Row<'a>) -> Option<T>) -> Option<Vec<T>> {
        let count: usize = self.number()?;
        // Each takes a number at least, so that a wrong count does not ask for much memory.
        (count <= self.0.len()).then_some(())?;
        (0..count).map(|_| take(self)).collect()
    }

    /// Was all of it taken?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let texts = ["", "a", "eight by", "nine byte", "überall"].map(String::from);
        let mut row = vec![7];
        put_list(&mut row, &texts, |row, text| put_text(row, text));
        row.push(1);
        let mut taken = Row(&row);
        assert_eq!(taken.index(8), Some(7));
        assert_eq!(taken.list(Row::text).unwrap(), texts);
        assert_eq!((taken.flag(), taken.is_empty()), (Some(true), true));
        assert_eq!(taken.number::<u64>(), None);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(Row(&[256]).number::<u8>(), None);
        assert_eq!(Row(&[2]).flag(), None);
        assert_eq!(Row(&[4]).index(4), None);
        assert_eq!(Row(&[1, 0xff]).text(), None, "it is no UTF-8");
        assert_eq!(Row(&[u64::MAX, 0]).text(), None);
        assert_eq!(Row(&[u64::MAX]).list(Row::number::<u64>), None);
        assert_eq!(Row(&[2, 5]).list(Row::number::<u64>), None);
    }
}
