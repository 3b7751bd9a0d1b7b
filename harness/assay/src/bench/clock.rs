//! Processor time of one thread: what is measured on it does not change when the machine has other things to do.

/// A moment of the current thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Began(f64);

impl Began {
    /// Now.
    pub(super) fn now() -> Self {
        Self(seconds())
    }

    /// The processor time the thread has used since, in seconds. It must be asked on the thread that began.
    pub(super) fn elapsed(self) -> f64 {
        (seconds() - self.0).max(0.0)
    }
}

#[cfg(unix)]
fn seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Where threads have no clock that can be asked, the wall's.
#[cfg(not(unix))]
fn seconds() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::Began;

    #[test]
    fn work_takes_time() {
        let began = Began::now();
        let mut sum = 0_u64;
        while began.elapsed() == 0.0 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(began.elapsed() > 0.0);
    }
}
