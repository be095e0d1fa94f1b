"""The figures, each with the protocol that made it on its face."""
