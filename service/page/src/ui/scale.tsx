// The colours of a scale, from its least to its most.
import { useScheme } from "../lib/hooks.ts";

export function ScaleBar({ colour }: { colour: (share: number, scheme: string) => string }) {
  const scheme = useScheme();
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => colour(share, scheme)).join(", ");
  return <span class="scale-bar" aria-hidden="true" style={{ background: `linear-gradient(90deg, ${stops})` }} />;
}
