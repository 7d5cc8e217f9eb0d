"""Ways to a person: one file a channel."""
