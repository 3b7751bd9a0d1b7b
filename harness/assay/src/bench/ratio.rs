//! The arithmetic: rounds that alternate between contestants, and what their medians say.
//!
//! A ratio is taken within each round, whose contestants ran one right after the other, so that a machine that slows
//! down slows both.

use serde::Serialize;

/// What a ratio should reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target(pub f64);

impl Target {
    /// Whether a value reaches it.
    #[must_use]
    pub fn is_met_by(self, value: f64) -> bool {
        value >= self.0
    }
}

/// The rates of one contestant, in units per second, one for each round.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Who.
    pub name: String,
    /// How fast, round by round.
    pub per_second: Vec<f64>,
}

impl Rates {
    /// The median rate.
    #[must_use]
    pub fn median(&self) -> f64 {
        median(&self.per_second)
    }
}

/// The median and the extremes of what the rounds gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl Spread {
    /// Of some values; all zero where there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let low = values.iter().copied().reduce(f64::min).unwrap_or_default();
        let high = values.iter().copied().reduce(f64::max).unwrap_or_default();
        Self { median: median(values), low, high }
    }
}

/// How many times faster `ours` was than `baseline`, round by round.
#[must_use]
pub fn ratio(ours: &Rates, baseline: &Rates) -> Spread {
    let pairs = ours.per_second.iter().zip(&baseline.per_second);
    let ratios: Vec<f64> = pairs.filter(|(_, base)| **base > 0.0).map(|(ours, base)| ours / base).collect();
    Spread::of(&ratios)
}

/// The contestant with the highest median.
#[must_use]
pub fn fastest(contestants: &[Rates]) -> Option<&Rates> {
    contestants.iter().max_by(|a, b| a.median().total_cmp(&b.median()))
}

/// A named way to do some work, which says how much it did in how many seconds.
pub struct Contestant<'a> {
    name: String,
    work: Box<dyn FnMut() -> Result<Work, String> + 'a>,
}

/// Work that was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// How much: bytes, calls, exchanges.
    pub units: f64,
    /// In how long.
    pub seconds: f64,
}

impl<'a> Contestant<'a> {
    /// A contestant of this name.
    pub fn new(name: &str, work: impl FnMut() -> Result<Work, String> + 'a) -> Self {
        Self { name: name.to_owned(), work: Box::new(work) }
    }
}

/// Lets the contestants work in turn, `rounds` times after one round that is not counted.
///
/// # Errors
/// The first that any of them reports.
pub fn alternate(rounds: usize, mut contestants: Vec<Contestant<'_>>) -> Result<Vec<Rates>, String> {
    let name = |contestant: &Contestant<'_>| Rates { name: contestant.name.clone(), per_second: Vec::new() };
    let mut rates: Vec<Rates> = contestants.iter().map(name).collect();
    for round in 0..=rounds {
        for (contestant, rates) in contestants.iter_mut().zip(&mut rates) {
            let Work { units, seconds } =
                (contestant.work)().map_err(|problem| format!("{}: {problem}", contestant.name))?;
            if round > 0 {
                rates.per_second.push(units / seconds.max(1e-9));
            }
        }
    }
    Ok(rates)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (Some(upper), 0) => sorted.get(middle.wrapping_sub(1)).map_or(*upper, |lower| (lower + upper) / 2.0),
        (Some(only), _) => *only,
        (None, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(name: &str, per_second: &[f64]) -> Rates {
        Rates { name: name.to_owned(), per_second: per_second.to_vec() }
    }

    #[test]
    fn a_median_is_the_middle_or_between_the_two_middle_values() {
        for (values, expected) in [
            (&[][..], 0.0),
            (&[3.0], 3.0),
            (&[9.0, 1.0], 5.0),
            (&[9.0, 1.0, 2.0], 2.0),
            (&[4.0, 1.0, 2.0, 8.0], 3.0),
        ] {
            assert_eq!(median(values), expected, "{values:?}");
        }
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        // The machine halved its speed twice; the ratio did not change.
        let spread = ratio(&rates("a", &[8.0, 4.0, 2.0]), &rates("b", &[4.0, 2.0, 1.0]));
        assert_eq!(spread, Spread { median: 2.0, low: 2.0, high: 2.0 });
        let spread = ratio(&rates("a", &[1.0, 2.0, 9.0]), &rates("b", &[1.0, 1.0, 1.0]));
        assert_eq!(spread, Spread { median: 2.0, low: 1.0, high: 9.0 });
        assert_eq!(ratio(&rates("a", &[1.0]), &rates("b", &[0.0])), Spread::of(&[]));
    }

    #[test]
    fn the_fastest_is_so_by_its_median() {
        let slow = rates("slow", &[1.0, 1.0, 100.0]);
        let fast = rates("fast", &[2.0, 2.0, 2.0]);
        assert_eq!(fastest(&[slow, fast.clone()]), Some(&fast));
        assert_eq!(fastest(&[]), None);
    }

    #[test]
    fn contestants_alternate_and_the_first_round_is_not_counted() {
        let order = std::cell::RefCell::new(String::new());
        let step = |name: &'static str, units: f64| {
            let order = &order;
            Contestant::new(name, move || {
                order.borrow_mut().push_str(name);
                Ok(Work { units, seconds: 0.5 })
            })
        };
        let rates = alternate(2, vec![step("a", 1.0), step("b", 2.0)]).unwrap();
        assert_eq!(*order.borrow(), "ababab");
        assert_eq!(rates[0].per_second, [2.0, 2.0]);
        assert_eq!(rates[1].per_second, [4.0, 4.0]);
        let failing = vec![Contestant::new("c", || Err("no port".to_owned()))];
        assert_eq!(alternate(1, failing), Err("c: no port".to_owned()));
    }

    #[test]
    fn a_target_is_met_from_itself_on() {
        assert!(Target(0.8).is_met_by(0.8));
        assert!(!Target(0.8).is_met_by(0.799));
        assert!(!Target(0.0).is_met_by(f64::NAN));
    }
}
