//! Changes by name: from the tables to the client's switch.

use super::table::{Change, Side};
use mcp_assay_client::Limits;
use mcp_assay_client::switch::{self, Habit, Rule};
use std::collections::BTreeSet;

/// The client's switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch;

impl super::trial::Client for Switch {
    fn marker(&self) -> &'static str {
        switch::MARKER
    }

    fn rules(&self) -> BTreeSet<String> {
        Rule::ALL.iter().map(|rule| rule.name()).collect()
    }

    fn habits(&self) -> BTreeSet<String> {
        Habit::ALL.iter().map(|habit| habit.name()).collect()
    }

    fn change(&self, change: Option<Change<'_>>) -> bool {
        let change = match change {
            None => {
                switch::switch(None);
                return true;
            }
            Some(Change::Breaks(name)) => {
                Rule::ALL.iter().find(|rule| rule.name() == name).map(|rule| switch::Change::Breaks(*rule))
            }
            Some(Change::Has(name)) => {
                Habit::ALL.iter().find(|habit| habit.name() == name).map(|habit| switch::Change::Has(*habit))
            }
            Some(Change::Moves(limit, side)) => {
                let side = match side {
                    Side::Less => switch::Side::Less,
                    Side::More => switch::Side::More,
                };
                let limit = Limits::NAMES.iter().find(|known| **known == limit);
                limit.map(|limit| switch::Change::Moves(limit, side))
            }
        };
        switch::switch(change);
        change.is_some()
    }
}
