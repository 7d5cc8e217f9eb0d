"""Adapter: config."""
