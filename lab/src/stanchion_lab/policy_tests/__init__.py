"""Tests of policies: tables of cases that are played, what of a policy they reach, and which of its
entries could go without a case noticing."""
