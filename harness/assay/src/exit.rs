//! The process's exit codes. Scripts rest on them; they never change meaning.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Exit {
    /// 0: all as expected, and something was run.
    AsExpected,
    /// 1: something unexpected was seen: an unlisted failure, or a listed one that passed.
    Unexpected,
    /// 2: the command line, a case, a clause or a profile is wrong. Nothing was run.
    Usage,
    /// 3: incomplete: nothing was run, something that must say pass or fail said neither, a floor was not reached,
    /// or a runtime is missing.
    Incomplete,
}

impl Exit {
    /// The number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::AsExpected => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::Incomplete => 3,
        }
    }

    /// The exit with this number, if there is one.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::AsExpected, Self::Unexpected, Self::Usage, Self::Incomplete]
            .into_iter()
            .find(|exit| exit.code() == code)
    }

    /// What both together amount to: a wrong input outweighs a violation, which outweighs a gap.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let weight = |exit| match exit {
            Self::AsExpected => 0,
            Self::Incomplete => 1,
            Self::Unexpected => 2,
            Self::Usage => 3,
        };
        if weight(self) >= weight(other) { self } else { other }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit::{AsExpected, Incomplete, Unexpected, Usage};

    #[test]
    fn the_graver_exit_wins_in_either_order() {
        let ascending = [AsExpected, Incomplete, Unexpected, Usage];
        for (i, a) in ascending.into_iter().enumerate() {
            for (j, b) in ascending.into_iter().enumerate() {
                assert_eq!(a.and(b), ascending[i.max(j)]);
            }
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_manual() {
        assert_eq!([AsExpected, Unexpected, Usage, Incomplete].map(super::Exit::code), [0, 1, 2, 3]);
        for code in 0..=u8::MAX {
            assert_eq!(super::Exit::from_code(code).map(super::Exit::code), (code < 4).then_some(code));
        }
    }
}
