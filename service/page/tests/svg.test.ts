import assert from "node:assert/strict";
import { test } from "node:test";
import { laid } from "../src/charts/figure.ts";
import { redirect } from "../src/charts/pen.ts";
import { SvgDrawing, SvgPath } from "../src/charts/svg.ts";

function drawing(): SvgDrawing {
  return new SvgDrawing((text) => ({ width: 6 * text.length }) as TextMetrics);
}

function drawn(pen: SvgDrawing): string {
  return pen.document(100, 50, "a chart").split("</title>")[1]?.replaceAll("\n", "").replace("</svg>", "") ?? "";
}

test("a path is written as it was told, and what is painted with it by its style", () => {
  const pen = drawing();
  pen.strokeStyle = "#0b6e75";
  pen.lineWidth = 2;
  pen.setLineDash([6, 4]);
  pen.beginPath();
  pen.moveTo(1, 2);
  pen.lineTo(3.14159, 4);
  pen.stroke();
  assert.equal(drawn(pen), '<g fill="none" stroke="#0b6e75" stroke-width="2" stroke-dasharray="6 4"><path d="M1 2L3.14 4"/></g>');
});

test("a circle is two halves, for an arc that ends where it begins is none", () => {
  const path = new SvgPath();
  path.moveTo(12, 5);
  path.arc(10, 5, 2, 0, 2 * Math.PI);
  assert.equal(path.d, "M12 5A2 2 0 0 1 8 5A2 2 0 0 1 12 5");
});

test("an arc goes round the way it was told", () => {
  const [there, back] = [new SvgPath(), new SvgPath()];
  there.arc(0, 0, 1, 0, Math.PI / 2);
  back.arc(0, 0, 1, 0, -Math.PI / 2, true);
  assert.equal(there.d, "M1 0A1 1 0 0 1 0 1");
  assert.equal(back.d, "M1 0A1 1 0 0 0 0 -1");
});

test("what follows in one style shares a group", () => {
  const pen = drawing();
  pen.fillStyle = "rgb(68 1 84)";
  pen.globalAlpha = 0.5;
  pen.fillRect(1, 1, 2, 2);
  pen.fillRect(5, 1, 2, 2);
  assert.equal(drawn(pen), '<g fill="#440154" fill-opacity="0.5"><rect x="1" y="1" width="2" height="2"/><rect x="5" y="1" width="2" height="2"/></g>');
});

test("what is transparent is not drawn", () => {
  const pen = drawing();
  for (const colour of ["#0000", "transparent", "rgba(1, 2, 3, 0)"]) {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 9, 9);
  }
  assert.equal(drawn(pen), "");
});

test("a clip lies where it was made, and ends with the state that it belongs to", () => {
  const pen = drawing();
  pen.save();
  pen.translate(10, 0);
  pen.beginPath();
  pen.rect(0, 0, 20, 20);
  pen.clip();
  pen.scale(2, 2);
  pen.fillRect(0, 0, 5, 5);
  pen.restore();
  pen.fillRect(0, 0, 1, 1);
  const text = pen.document(100, 50, "a chart");
  assert.match(text, /<clipPath id="clip1"><path d="M0 0h20v20h-20z" transform="matrix\(1 0 0 1 10 0\)"\/><\/clipPath>/);
  assert.match(text, /<g clip-path="url\(#clip1\)">\n<g fill="#000000" transform="matrix\(2 0 0 2 10 0\)"><rect [^>]*\/><\/g><\/g>\n<g fill="#000000"><rect/);
});

test("text stays text, where it was and turned as it was", () => {
  const pen = drawing();
  pen.font = "600 12px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.translate(5, 20);
  pen.rotate(-Math.PI / 2);
  pen.fillText("simulated time", 0, 0);
  assert.match(drawn(pen), /<text x="0" y="9.6" font-family="system-ui, sans-serif" font-size="12" font-weight="600" text-anchor="middle" transform="matrix\(0 -1 1 0 5 20\)">simulated time<\/text>/);
});

test("names of users are no markup", () => {
  const pen = drawing();
  pen.fillText('<script>alert("1")</script> & \u0000', 0, 0);
  const text = pen.document(10, 10, '</title><script>"');
  assert.doesNotMatch(text, /<script/);
  assert.match(text, /&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt; &amp; \ufffd<\/text>/);
});

test("what is told to a context goes to its pen, until it gets another", () => {
  const context = { fillStyle: "own", fillRect: () => assert.fail("the context was told") } as unknown as CanvasRenderingContext2D;
  const [first, second] = [drawing(), drawing()];
  redirect(context, first);
  context.fillStyle = "#123456";
  context.fillRect(0, 0, 1, 1);
  assert.equal(context.fillStyle, "#123456");
  redirect(context, second);
  context.fillRect(0, 0, 7, 7);
  assert.equal(drawn(first), '<g fill="#123456"><rect x="0" y="0" width="1" height="1"/></g>');
  assert.match(drawn(second), /width="7"/);
});

test("a legend goes on in the next line where there is no more room", () => {
  const legend = ["one", "two", "three"].map((name) => ({ mark: "dot" as const, colour: "", name }));
  const { placed, lines } = laid(legend, [60, 60, 60], 200);
  assert.equal(lines, 2);
  assert.deepEqual(placed.map(({ x, y }) => [x, y]), [[0, 0], [94, 0], [0, 18]]);
  assert.equal(laid([], [], 200).lines, 0);
});
