"""A network with its walls: u and its derivatives for given parameters, by collapsed jets."""
