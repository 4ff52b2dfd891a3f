// When each trial was evaluated, of those that a worker took and stored together.

export interface Evaluated { worker: string; from: number; to: number; took: number | null }

/** Trials that a worker took together start and finish as one, but were evaluated in turn. */
export function inTurn<T extends Evaluated>(evaluated: T[]): T[] {
  const ends = new Map<string, number>();
  return evaluated.map((one) => {
    if (one.took === null) return one;
    const together = `${one.worker} ${one.from}`;
    const from = ends.get(together) ?? one.from;
    const to = Math.min(from + one.took, Math.max(from, one.to));
    ends.set(together, to);
    return { ...one, from, to };
  });
}
