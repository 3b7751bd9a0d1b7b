//! Job slots: threads that take units of work from one queue, each with resources of its own (a listener, a
//! runtime), and hand results to the thread that started them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// Runs every unit on one of `jobs` threads; `consume` gets each result on the calling thread, as it comes.
///
/// `slot` makes what one thread works with; a slot that cannot be made fails the whole run. Units start in order.
/// Once `stop` is set, no further unit starts.
///
/// # Errors
/// The first error of making a slot.
pub fn run<U, S, R, E>(
    jobs: usize,
    units: Vec<U>,
    stop: &AtomicBool,
    slot: impl Fn() -> Result<S, E> + Sync,
    work: impl Fn(&mut S, U) -> R + Sync,
    mut consume: impl FnMut(R),
) -> Result<(), E>
where
    U: Send,
    R: Send,
    E: Send,
{
    let jobs = jobs.clamp(1, units.len().max(1));
    let queue = Mutex::new(VecDeque::from(units));
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs)
            .map(|_| {
                let (sender, queue, slot, work) = (sender.clone(), &queue, &slot, &work);
                scope.spawn(move || {
                    let mut own = slot()?;
                    while !stop.load(Ordering::Relaxed) {
                        let Some(unit) = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
                        else {
                            break;
                        };
                        if sender.send(work(&mut own, unit)).is_err() {
                            break;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        drop(sender);
        results.iter().for_each(&mut consume);
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::run;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn every_unit_comes_back_once_with_any_number_of_jobs() {
        for jobs in [0, 1, 2, 8, 100] {
            let mut seen = Vec::new();
            let stop = AtomicBool::new(false);
            let ended =
                run(jobs, (0..50).collect(), &stop, || Ok::<_, Infallible>(()), |(), n| n, |n| seen.push(n));
            assert_eq!(ended, Ok(()));
            seen.sort_unstable();
            assert_eq!(seen, (0..50).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_slot_that_cannot_be_made_is_an_error() {
        let stop = AtomicBool::new(false);
        assert_eq!(run(2, vec![1, 2], &stop, || Err::<(), _>("no port"), |(), n| n, |_| ()), Err("no port"));
    }

    #[test]
    fn stop_keeps_the_rest_from_starting() {
        let stop = AtomicBool::new(false);
        let mut seen = Vec::new();
        let work = |(): &mut (), n| {
            stop.store(true, Ordering::Relaxed);
            n
        };
        run(1, vec![1, 2, 3], &stop, || Ok::<_, Infallible>(()), work, |n| seen.push(n)).unwrap();
        assert_eq!(seen, [1]);
    }
}
