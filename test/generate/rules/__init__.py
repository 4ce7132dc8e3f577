"""operator -> rule: a function that draws a node of it."""
from . import contractions, elementwise, indexing, normalizations, reductions, shapes, windows

RULES = {}
for family in (elementwise, reductions, shapes, indexing, contractions, windows, normalizations):
    RULES.update(family.RULES)
