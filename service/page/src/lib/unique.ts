/** A name that nobody else has; not by `crypto.randomUUID`, which browsers have over https and on this machine only. */
export function unique(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
