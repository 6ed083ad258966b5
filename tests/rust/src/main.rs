//! Pays twice, wrongly if it is told so.

use accounts::{Account, twice};

fn main() {
    let account = Account::default();
    match std::env::args().nth(1).as_deref() {
        Some("wrongly") => twice(&account, |account| account.pay_wrongly(1)),
        _ => twice(&account, |account| account.pay(1)),
    }
    assert_eq!(account.balance(), 2);
}
