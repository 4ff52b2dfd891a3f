// The mean of a few runs, and how well it is known.

/** Of Student's t: 97.5% quantiles for 1, 2, ... degrees of freedom. */
const STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045];
const NORMAL = 1.96;

export interface Interval {
  mean: number;
  /** Half the 95% confidence interval of the mean; null for a single run. */
  half: number | null;
}

export function intervalOf(runs: number[]): Interval {
  const mean = runs.reduce((sum, one) => sum + one, 0) / runs.length;
  if (runs.length < 2) return { mean, half: null };
  const variance = runs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (runs.length - 1);
  return { mean, half: (STUDENT[runs.length - 2] ?? NORMAL) * Math.sqrt(variance / runs.length) };
}
