import assert from "node:assert/strict";
import { test } from "node:test";
import { follow, Parser, type Connection, type Follower } from "../src/lib/sse.ts";

test("messages come whole however the text is cut", () => {
  const text = "retry: 1000\n\n: still here\n\nid: 7\nevent: trial\ndata: {\"a\":\ndata: 1}\n\nid: 8\r\ndata: x\r\n\r\n";
  for (let size = 1; size < 12; size += 1) {
    const parser = new Parser();
    const found = [];
    for (let i = 0; i < text.length; i += size) found.push(...parser.push(text.slice(i, i + size)));
    assert.deepEqual(found, [
      { id: "7", event: "trial", data: '{"a":\n1}' },
      { id: "8", event: "message", data: "x" },
    ]);
  }
});

function bodyOf(text: string, broken = false): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      if (broken) setTimeout(() => controller.error(new Error("reset")), 1);
      else controller.close();
    },
  });
}

async function run(answers: (ReadableStream<Uint8Array> | Error)[], over: () => boolean, final = false) {
  const asked: string[] = [];
  const states: Connection[] = [];
  const seen: string[] = [];
  const follower: Follower = {
    open: async (after) => {
      asked.push(after);
      const answer = answers.shift();
      if (!answer || answer instanceof Error) throw answer ?? new Error("none left");
      return answer;
    },
    onMessage: (message) => seen.push(message.data),
    onConnection: (state) => states.push(state),
    isOver: over,
    isFinal: () => final,
    wait: async () => undefined,
  };
  await follow("3", follower, new AbortController().signal);
  return { asked, states, seen };
}

test("after a break it goes on behind the last message", async () => {
  let left = 3;
  const answers = [bodyOf("id: 4\ndata: a\n\n", true), new Error("away"), bodyOf("id: 5\ndata: b\n\n")];
  const { asked, states, seen } = await run(answers, () => (left -= 1) <= 2);
  assert.deepEqual(asked, ["3", "4", "4"]);
  assert.deepEqual(seen, ["a", "b"]);
  assert.equal(states.at(-1), "ended");
  assert.ok(states.includes("lost"));
});

test("a refusal ends it", async () => {
  const { states } = await run([new Error("403")], () => false, true);
  assert.deepEqual(states, ["connecting", "refused"]);
});
