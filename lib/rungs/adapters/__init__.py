"""Adapters that make the environments available to other libraries."""
