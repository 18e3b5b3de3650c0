"""Attacks on Plinian that can be run for as long as one likes, and print figures."""
