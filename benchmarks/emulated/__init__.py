"""Collectives and programs under real Open MPI on an emulated cluster, beside simulated times.

Sixteen hosts are network namespaces of one kernel, their cables pairs of devices of 20 Mbit/s, and
Open MPI runs over them as it would over Ethernet (`cluster`). What is measured (`cases`) is kept in
`data/`, with every repetition and under what it was taken, so that whoever changes the model can
compare it (`compare`) without root and without another hour of measuring (`measure`).

What makes the measurements what they are:

- The cables are slow, so that two cores can play sixteen hosts. Messages wait in them fifty times
  longer than in gigabit cables, and TCP's timers are made as much longer: as they come, they take
  for lost what only waits.
- A core for each cable handles what comes out of it. Two would let frames overtake each other, and
  TCP would take that for a loss as well. A run in which any segment was sent again is taken anew.
- Ranks that wait sleep on their sockets (`waiting.c`). Sixteen that poll on two cores measure the
  scheduler: a repetition began up to 16 ms late then, mostly less than 1 ms late now.
- A token bucket of one packet lets the first packet of an idle cable pass at once. A message alone
  arrives sooner by up to the time of one packet (0.6 ms) than over a cable of that rate; simulated
  times do not have that.
- Two cores need time as well. Of each program it was measured what it takes with cables a hundred
  times faster (`floor`): 57% of LU and 69% of MG on the torus at 20 Mbit/s, 34% and 46% at 5. There
  small messages are sooner than simulated, as the packet that passes at once makes them; at 20
  Mbit/s the cores hide that.
- Collectives begin at an instant agreed on, by the one clock that all ranks read, and are over when
  the last rank is back. The median of all repetitions counts.
- Nothing is fitted. The latency of a cable is half the round trip of a byte over one; hosts are as
  fast as declared flops over the CPU seconds that ranks were seen to compute between their calls.
"""
