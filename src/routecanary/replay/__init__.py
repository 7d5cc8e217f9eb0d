"""The decision without network or store: a trace in, events out."""
