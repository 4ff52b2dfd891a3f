// Fingers on a chart: two pinch and move it; one moves it where less than all is shown, else it scrolls the page.

/** The middle of the fingers in pixels from the corner of the element, and how far they are apart. */
export interface Grip { x: number; y: number; spread: number }

export interface Touched {
  /** Fingers went down or up: what is shown now is what `move` starts from. */
  begin(): void;
  /** Whether one finger moves what is shown. */
  isZoomed(): boolean;
  move(from: Grip, to: Grip): void;
}

/** Follow the fingers on an element; returns what ends that. */
export function touching(element: HTMLElement, touched: Touched): () => void {
  let from: Grip | null = null;
  function gripOf({ touches }: TouchEvent): Grip {
    const box = element.getBoundingClientRect();
    const places = [...touches].slice(0, 2).map((one) => [one.clientX - box.left, one.clientY - box.top] as const);
    const [a = [0, 0] as const, b = a] = places;
    return { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, spread: Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1])) };
  }
  function changed(event: TouchEvent): void {
    const { length } = event.touches;
    from = length > 1 || (length === 1 && touched.isZoomed()) ? gripOf(event) : null;
    if (from) touched.begin();
  }
  function moved(event: TouchEvent): void {
    if (!from) return;
    event.preventDefault();
    touched.move(from, gripOf(event));
  }
  const passive = { passive: true };
  element.addEventListener("touchstart", changed, passive);
  element.addEventListener("touchend", changed, passive);
  element.addEventListener("touchcancel", changed, passive);
  element.addEventListener("touchmove", moved, { passive: false });
  return () => {
    element.removeEventListener("touchstart", changed);
    element.removeEventListener("touchend", changed);
    element.removeEventListener("touchcancel", changed);
    element.removeEventListener("touchmove", moved);
  };
}
