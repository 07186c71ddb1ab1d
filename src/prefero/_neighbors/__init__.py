"""Case bases: who is near, how near, and what that is worth. For rankers that keep their cases."""
