//! An account that several threads pay into, and a place where one thread leaves a payment for
//! another.

use std::cell::UnsafeCell;
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

/// One payment from one thread to another, which may close the place.
#[derive(Default)]
pub struct Drawer {
    state: AtomicU32,
    payment: UnsafeCell<Option<u32>>,
}

// SAFETY: the state says who has the payment (in what is right).
unsafe impl Sync for Drawer {}

const SENT: u32 = 1;
const CLOSED: u32 = 2;

impl Drawer {
    fn put(&self, amount: u32) {
        // SAFETY: nobody takes it before it is sent.
        unsafe { *self.payment.get() = Some(amount) };
    }

    fn take(&self) -> Option<u32> {
        // SAFETY: one thread has it.
        unsafe { (*self.payment.get()).take() }
    }

    /// Gives the payment back if the drawer is closed. It is marked as sent all the same, so the other
    /// side may take it at that moment.
    pub fn send_wrongly(&self, amount: u32) -> Option<u32> {
        self.put(amount);
        let before = self.state.fetch_or(SENT, Ordering::AcqRel);
        (before & CLOSED != 0).then(|| self.take().expect("a payment"))
    }

    /// The same, marked as sent only if the drawer is open.
    pub fn send(&self, amount: u32) -> Option<u32> {
        self.put(amount);
        let sent = self.state.compare_exchange(0, SENT, Ordering::AcqRel, Ordering::Acquire);
        sent.is_err().then(|| self.take().expect("a payment"))
    }

    /// Closes it; what was sent before.
    pub fn close(&self) -> Option<u32> {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
        let sent = self.state.load(Ordering::Acquire) & SENT != 0;
        sent.then(|| self.take()).flatten()
    }
}

/// Sends a payment while the other side closes the drawer.
pub fn send_and_close(send: impl Fn(&Drawer) -> Option<u32> + Sync) -> (Option<u32>, Option<u32>) {
    let drawer = Drawer::default();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| send(&drawer));
        (drawer.close(), sender.join().expect("the sender ends"))
    })
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
    fn payment_is_taken_twice() {
        let _ = send_and_close(|drawer| drawer.send_wrongly(5));
    }

    #[test]
    fn payment_is_taken_once() {
        let (received, returned) = send_and_close(|drawer| drawer.send(5));
        assert!(received.is_some() != returned.is_some());
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
