// The convergence of a job in the size of a word.
import type { Curve } from "../lib/types.ts";
import { duration } from "../lib/format.ts";

const WIDTH = 120;
const HEIGHT = 30;

export function Sparkline({ curve }: { curve: Curve | undefined }) {
  if (!curve || curve.best.length === 0) return <span class="quiet">–</span>;
  const last = curve.trial.at(-1) ?? 1;
  const high = Math.max(curve.best[0] ?? 0, curve.baseline ?? 0);
  const low = Math.min(curve.best.at(-1) ?? 0, curve.baseline ?? Infinity);
  const x = (trial: number) => (last <= 1 ? WIDTH / 2 : ((trial - 1) / (last - 1)) * (WIDTH - 4) + 2);
  const y = (value: number) => (high === low ? HEIGHT / 2 : 3 + ((high - value) / (high - low)) * (HEIGHT - 6));
  let path = `M${x(curve.trial[0] ?? 1).toFixed(1)} ${y(curve.best[0] ?? 0).toFixed(1)}`;
  for (let i = 1; i < curve.best.length; i += 1) {
    path += `H${x(curve.trial[i] ?? 1).toFixed(1)}V${y(curve.best[i] ?? 0).toFixed(1)}`;
  }
  const label = `From ${duration(curve.best[0])} to ${duration(curve.best.at(-1))} in ${last} trials`;
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      {curve.baseline !== null && <line class="spark-base" x1="0" x2={WIDTH} y1={y(curve.baseline)} y2={y(curve.baseline)} />}
      <path class="spark-line" d={path} />
      <circle class="spark-dot" cx={x(last)} cy={y(curve.best.at(-1) ?? 0)} r="2.4" />
    </svg>
  );
}
