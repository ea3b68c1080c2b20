"""Dialect houses: one folder for each wire protocol, four files each. No house knows another."""
