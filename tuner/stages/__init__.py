"""The stages of a job's work, one after the other: what each asks, when it ends, what it is told.

A stage begins when nothing is in flight. `baselines` come first, where trials have a cutoff, which
these are the first to give; then the `search`; and, where the job wants it, the `refinement` of the
best configuration's mapping. Where the search is on a truncated trace the baselines are estimated
before it, the best of them evaluated on the whole trace, and in the end the best points are
`verification`s on the whole trace. Where the machine's network is `auto`, a `comparison` evaluates
the best points with the fluid model after all that, which changes nothing of the result. `plan`
says which of them a job has, and `course` is what they share.
"""
