//! The generic webhook: the bus for any chat platform, signed both ways.
