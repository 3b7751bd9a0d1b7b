//! Other lawful habits that the client could have, each named after what it would do.
//!
//! Code asks `if habit(Habit::X)` where a reasonable client might do otherwise. Without the feature `mutants` the answer
//! is a constant and leaves no trace. No test that binds every client may notice a habit: `fixtures/lawful.toml` of the
//! harness says of each why it is lawful.

/// Whether the client has this habit.
#[cfg(not(feature = "mutants"))]
#[inline]
pub(crate) const fn habit(_: Habit) -> bool {
    false
}

/// Whether the client has this habit.
#[cfg(feature = "mutants")]
#[inline]
pub(crate) fn habit(habit: Habit) -> bool {
    crate::switch::is(crate::switch::Change::Has(habit))
}

/// Writes the habits' enum and, where they can be taken on, their list.
macro_rules! habits {
    ($($habit:ident = $doc:literal,)*) => {
        /// A lawful habit that the client does not have unless told to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(
            not(feature = "mutants"),
            expect(unreachable_pub, reason = "public with the feature `mutants` only")
        )]
        pub enum Habit {
            $(#[doc = $doc] $habit,)*
        }

        #[cfg(feature = "mutants")]
        impl Habit {
            /// All habits.
            pub const ALL: &[Self] = &[$(Self::$habit,)*];

            /// The habit's name in the table of lawful variations.
            pub fn name(self) -> String {
                crate::switch::kebab(&self)
            }
        }
    };
}

habits! {
    StringIds = "Sends request ids as strings.",
    IdsFromZero = "Counts request ids from 0.",
    IdsDown = "Counts request ids down.",
    TitleCaseHeaders = "Writes header names in title case.",
    SessionFirst = "Puts the session header before all others.",
    GetStream = "Asks for a stream by GET once it is ready.",
    NoDelete = "Closes without a DELETE.",
    ConnectionEach = "Takes a new connection for each request.",
    AcceptWeighed = "Weighs the types that it accepts.",
    AcceptInTwoLines = "Has a header line for each type that it accepts.",
    MoreCapabilities = "Offers an experimental capability.",
    HangsUpAtAnswer = "Closes the socket of a stream at the terminal event, even if its end has come.",
    SpacedJson = "Writes white space between the tokens of its JSON.",
    MethodFirst = "Writes the method before the version.",
    PingsLate = "Takes a moment before it answers the server.",
    NamesItself = "Sends a user-agent.",
    AsksForIdentity = "Sends accept-encoding: identity.",
    KeepsAliveAloud = "Sends connection: keep-alive.",
    GivesUpSilently = "Sends no cancellation.",
    ReconnectsItself = "Makes a new session by itself after a 404.",
    AsksForProgress = "Sends a progress token with each call.",
    VersionAtOnce = "Names its protocol version on initialize too.",
}
