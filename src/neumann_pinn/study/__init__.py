"""The study and its findings: configuration, budgets, accuracy, claims. No torch."""
