"""Adapter: store."""
