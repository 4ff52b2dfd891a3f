"""Jobs, trials, attempts, events, evaluations and artifacts. The only room that knows SQL."""
