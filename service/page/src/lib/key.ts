// Where the service is asked, and the key that goes along where there is one.

export const PREFIX = "/api/v1";
const KEY = "hamtune-key";

export function apiKey(): string { return sessionStorage.getItem(KEY) ?? ""; }

export function setApiKey(key: string): void {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

/** The key as a header. */
export function authorisation(): Record<string, string> {
  const key = apiKey();
  return key ? { Authorization: `Bearer ${key}` } : {};
}
