//! Behaviour of the parser as a whole.
