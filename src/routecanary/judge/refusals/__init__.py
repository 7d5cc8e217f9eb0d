"""The words that models refuse with: one table a locale, and how they are read."""
