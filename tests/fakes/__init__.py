"""Scripted stand-ins for what lies outside motes: upstreams, clocks, recordings."""
