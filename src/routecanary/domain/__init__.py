"""NOUNS: frozen values that import only each other and `errors`."""
