"""EFFECTS: each adapter sees the domain and one foreign library."""
