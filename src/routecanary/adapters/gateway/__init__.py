"""Adapter: gateway."""
