// Server-Sent Events over fetch, so that the key can be sent: a parser, and a stream that comes
// back by itself with the last id it saw.

export interface Message { id: string; event: string; data: string }

/** Takes text as it arrives and gives whole messages (HTML standard, section 9.2.6). */
export class Parser {
  private rest = "";
  private id = "";
  private event = "";
  private data: string[] = [];

  push(text: string): Message[] {
    const found: Message[] = [];
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (this.data.length) found.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
        continue;
      }
      if (line.startsWith(":")) continue;
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") this.data.push(value);
      else if (field === "event") this.event = value;
      else if (field === "id" && !value.includes("\0")) this.id = value;
    }
    return found;
  }
}

export type Connection = "connecting" | "live" | "lost" | "ended" | "refused";

export interface Follower {
  open(after: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  onMessage(message: Message): void;
  onConnection(state: Connection): void;
  /** Whether the stream is over for good, asked when the service closes it. */
  isOver(): boolean;
  /** Whether a failed opening must not be tried again. */
  isFinal(error: unknown): boolean;
  wait?(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const SILENCE = 25_000; // the service says something every 10 s

/** Follow a stream until it is over or the signal aborts; after a break it goes on where it was. */
export async function follow(after: string, follower: Follower, signal: AbortSignal): Promise<void> {
  const wait = follower.wait ?? pause;
  let cursor = after;
  let failures = 0;
  while (!signal.aborted) {
    follower.onConnection(failures ? "lost" : "connecting");
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    signal.addEventListener("abort", stop);
    try {
      const body = await follower.open(cursor, attempt.signal);
      failures = 0;
      follower.onConnection("live");
      const parser = new Parser();
      const decoder = new TextDecoder();
      const reader = body.getReader();
      for (;;) {
        const silent = setTimeout(stop, SILENCE);
        const part = await reader.read().finally(() => clearTimeout(silent));
        if (part.done) break;
        for (const message of parser.push(decoder.decode(part.value, { stream: true }))) {
          if (message.id) cursor = message.id;
          follower.onMessage(message);
        }
      }
      if (follower.isOver()) {
        follower.onConnection("ended");
        return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (follower.isFinal(error)) {
        follower.onConnection("refused");
        return;
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
    failures += 1;
    follower.onConnection("lost");
    await wait(Math.min(250 * 2 ** (failures - 1), 4000), signal);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
