"""The figures, each labelled with the protocol that made it."""
