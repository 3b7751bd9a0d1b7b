//! Each kind both ways, the order of outcomes, and what a verdict is unmoved by.

mod bindings;
mod flood;
mod kinds;
mod memory;
mod requests;
mod silence;
mod steps;
mod unmoved;
mod witness;
