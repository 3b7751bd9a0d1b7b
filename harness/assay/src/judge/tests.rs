//! Each kind both ways, the order of outcomes, and what a verdict is unmoved by.

mod bindings;
mod kinds;
mod silence;
mod steps;
mod unmoved;
mod witness;
