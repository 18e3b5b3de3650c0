"""Watch streams, with the times at which lines were received."""
