"""Nonlinear selection: shapes of single features and pairs of them."""
