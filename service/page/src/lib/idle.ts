// Work that can wait until nothing else is to be done; one piece in each idle moment, so that none
// is felt.

const waiting = new Set<() => void>();
let asked = false;

function ask(): void {
  if (asked || waiting.size === 0) return;
  asked = true;
  const turn = () => {
    asked = false;
    const [first] = waiting;
    if (first) {
      waiting.delete(first);
      first();
    }
    ask();
  };
  if (typeof requestIdleCallback === "function") requestIdleCallback(turn, { timeout: 2000 });
  else setTimeout(turn, 100);
}

/** Do something when there is time; returns what takes it back. */
export function whenIdle(work: () => void): () => void {
  waiting.add(work);
  ask();
  return () => { waiting.delete(work); };
}
