"""Odd files and command lines, in tables of rows: what is made, what is run, and what is said."""
