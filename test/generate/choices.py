"""Where all decisions of a case come from: drawn from a seed, or replayed from a list.

A case is nothing but its operator and its list of choices, each a small number of which 0 is the simplest. So shrinking a case is
making the numbers smaller, whatever they decide, and a list is all that it takes to make the case again.
"""
import random


class Choices:
    def __init__(self, seed=None, replay=None):
        self.random = random.Random(seed) if replay is None else None
        self.replay = list(replay or [])
        self.made = []

    def below(self, n):
        """A number from 0 to n - 1; 0 after the end of a replayed list."""
        if self.random:
            number = self.random.randrange(n)
        else:
            number = min(self.replay[len(self.made)], n - 1) if len(self.made) < len(self.replay) else 0
        self.made.append(number)
        return number

    def pick(self, options):
        """One of `options`, which begin with the simplest."""
        return options[self.below(len(options))]

    def flag(self, one_in=2):
        """True once in `one_in` times; False is simpler."""
        return self.below(one_in) == one_in - 1


def simpler(made):
    """Lists of choices that are simpler than `made`, the boldest first."""
    lists = []
    for end in (len(made) // 2, len(made) - 1):
        lists.append(made[:end])
    for width in (8, 4, 2, 1):
        for start in range(0, len(made), width):
            if any(made[start:start + width]):
                lists.append(made[:start] + [0] * len(made[start:start + width]) + made[start + width:])
    for i, number in enumerate(made):
        for smaller in {number // 2, number - 1}:
            if 0 < smaller < number:
                lists.append(made[:i] + [smaller] + made[i + 1:])
    return [trimmed for trimmed in map(trim, lists) if trimmed != trim(made)]


def trim(made):
    """Without zeros at the end, which mean nothing."""
    made = list(made)
    while made and made[-1] == 0:
        made.pop()
    return made
