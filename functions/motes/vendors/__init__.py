"""Vendors: rows of data over the dialects. No row holds code."""
