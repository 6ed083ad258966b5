//! An account that several threads pay into.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Default)]
pub struct Account {
    balance: Mutex<u32>,
    payments: AtomicU32,
}

impl Account {
    /// Loses what another thread pays in between its two locks.
    pub fn pay_wrongly(&self, amount: u32) {
        let balance = *self.balance.lock().unwrap();
        *self.balance.lock().unwrap() = balance + amount;
    }

    pub fn pay(&self, amount: u32) {
        *self.balance.lock().unwrap() += amount;
    }

    /// Counts too few when two threads do it at once.
    pub fn count_wrongly(&self) {
        let payments = self.payments.load(Ordering::SeqCst);
        self.payments.store(payments + 1, Ordering::SeqCst);
    }

    pub fn count(&self) {
        self.payments.fetch_add(1, Ordering::SeqCst);
    }

    pub fn balance(&self) -> u32 {
        *self.balance.lock().unwrap()
    }

    pub fn payments(&self) -> u32 {
        self.payments.load(Ordering::SeqCst)
    }
}

/// Does it in two threads at once.
pub fn twice(account: &Account, work: impl Fn(&Account) + Sync) {
    std::thread::scope(|scope| {
        scope.spawn(|| work(account));
        scope.spawn(|| work(account));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn payment_is_lost() {
        let account = Account::default();
        twice(&account, |account| account.pay_wrongly(1));
        assert_eq!(account.balance(), 2, "the balance");
    }

    #[test]
    fn payment_arrives() {
        let account = Account::default();
        twice(&account, |account| account.pay(1));
        assert_eq!(account.balance(), 2);
    }

    #[test]
    fn count_is_lost() {
        let account = Account::default();
        twice(&account, Account::count_wrongly);
        assert_eq!(account.payments(), 2, "the count");
    }

    #[test]
    fn count_is_right() {
        let account = Account::default();
        twice(&account, Account::count);
        assert_eq!(account.payments(), 2);
    }

    #[test]
    fn messages_arrive() {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let threads = [
            std::thread::spawn(move || sender.send(1).unwrap()),
            std::thread::spawn(move || other.send(2).unwrap()),
        ];
        assert_eq!(receiver.iter().sum::<u32>(), 3);
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[test]
    #[should_panic(expected = "poisoned")]
    fn a_panic_that_is_wanted() {
        let account = Account::default();
        let poison = || {
            let _held = account.balance.lock().unwrap();
            panic!("held");
        };
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(poison));
        account.balance.lock().expect("poisoned");
    }

    #[test]
    #[cfg_attr(test, ignore = "fails always")]
    fn not_asked_for() {
        panic!("ignored");
    }
}
