//! Deadlines that cost little while they hold.
//!
//! To register a timer, tokio wakes its driver: as dear as a read from a socket, for a deadline that a call hardly ever
//! reaches. So a timer outlives the call it was made for, and stays registered: the next call takes it over, and only
//! if it goes off before that call's own deadline is it set anew.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use tokio::runtime::{Handle, Id};
use tokio::time::{Instant, Sleep, sleep_until};

/// The timers of a client that no call holds. There are never more than calls were pending at once.
#[derive(Default)]
pub(crate) struct Alarms(Mutex<Vec<Timer>>);

/// A timer and the runtime it belongs to: it is of no use in another.
struct Timer {
    sleep: Pin<Box<Sleep>>,
    runtime: Id,
}

impl Alarms {
    /// Ready at `deadline`, and not before. It must be called, and awaited, within a runtime.
    pub(crate) fn at(&self, deadline: Instant) -> Alarm<'_> {
        let runtime = Handle::current().id();
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let timer = match kept {
            Some(timer) if timer.runtime == runtime && timer.sleep.deadline() <= deadline => timer,
            _ => Timer { sleep: Box::pin(sleep_until(deadline)), runtime },
        };
        Alarm { alarms: self, timer: Some(timer), deadline }
    }
}

/// A deadline of one call.
pub(crate) struct Alarm<'a> {
    alarms: &'a Alarms,
    /// None once it went off.
    timer: Option<Timer>,
    deadline: Instant,
}

impl Future for Alarm<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        while let Some(timer) = &mut this.timer {
            ready!(timer.sleep.as_mut().poll(cx));
            if timer.sleep.deadline() >= this.deadline {
                this.timer = None;
            } else {
                timer.sleep.as_mut().reset(this.deadline);
            }
        }
        Poll::Ready(())
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        let Some(mut timer) = self.timer.take() else { return };
        // A runtime that is going down takes its timers with it.
        if Handle::try_current().is_ok_and(|handle| handle.id() == timer.runtime) {
            // It must not keep the task of this call in memory.
            let mut nobody = Context::from_waker(Waker::noop());
            if timer.sleep.as_mut().poll(&mut nobody).is_pending() {
                self.alarms.0.lock().unwrap_or_else(PoisonError::into_inner).push(timer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout_at;

    async fn goes_off_after(alarms: &Alarms, seconds: u64) {
        let start = Instant::now();
        alarms.at(start + Duration::from_secs(seconds)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(seconds));
    }

    /// Sets an alarm and gives it up at once.
    async fn given_up(alarms: &Alarms, seconds: u64) {
        let alarm = alarms.at(Instant::now() + Duration::from_secs(seconds));
        assert!(timeout_at(Instant::now(), alarm).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_taken_over_goes_off_at_the_new_deadline() {
        let alarms = Alarms::default();
        for (old, new) in [(5, 5), (5, 7), (5, 2), (1, 100)] {
            given_up(&alarms, old).await;
            goes_off_after(&alarms, new).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn timers_are_kept_for_as_many_as_were_set_at_once() {
        let alarms = Alarms::default();
        for _ in 0..10 {
            let deadline = Instant::now() + Duration::from_secs(5);
            let (mut one, mut two) = (alarms.at(deadline), alarms.at(deadline));
            assert!(timeout_at(Instant::now(), &mut one).await.is_err());
            assert!(timeout_at(Instant::now(), &mut two).await.is_err());
        }
        assert_eq!(alarms.0.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_timer_of_another_runtime_is_not_taken_over() {
        let alarms = Alarms::default();
        for _ in 0..2 {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
                goes_off_after(&alarms, 1).await;
                given_up(&alarms, 5).await;
            });
        }
    }
}
