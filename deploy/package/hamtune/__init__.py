"""Hamtune as an installed package: the rooms of the repository lie in `rooms`, as they do there.

Only the command imports them, under their own names; nothing but `hamtune` is claimed in the
environment that this is installed in.
"""
