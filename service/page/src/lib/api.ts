// Requests to the service: problems (RFC 9457) become errors, the key goes along where there is one.
import { authorisation, PREFIX } from "./key.ts";

declare global {
  interface Window {
    /** What the document has asked for already (`early.ts`), by path; each is taken once. */
    early?: Map<string, Promise<Response>>;
  }
}

export interface FieldProblem { field: string; message: string }

/** What the service refused and why, in its own words. */
export class Problem extends Error {
  readonly status: number;
  readonly fields: FieldProblem[];
  constructor(status: number, detail: string, fields: FieldProblem[] = []) {
    super(detail);
    this.status = status;
    this.fields = fields;
  }
  /** The service did not answer at all. */
  get away(): boolean { return this.status === 0 || this.status === 502 || this.status === 503; }
  get refused(): boolean { return this.status === 401 || this.status === 403; }
}

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(authorisation())) headers.set(name, value);
  let response: Response;
  try {
    response = await (takeEarly(path, init) ?? fetch(PREFIX + path, { ...init, headers }));
    init.signal?.throwIfAborted();
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Problem(0, "The service does not answer. Is it running?");
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

function takeEarly(path: string, init: RequestInit): Promise<Response> | undefined {
  if (init.method !== undefined) return undefined;
  const answer = window.early?.get(path);
  window.early?.delete(path);
  return answer;
}

/** What was asked for early and not taken at once is out of date. */
export function forgetEarly(): void {
  delete window.early;
}

async function problemOf(response: Response): Promise<Problem> {
  return problemIn(response.status, response.statusText, await response.text().catch(() => ""));
}

function problemIn(status: number, words: string, text: string): Problem {
  try {
    const body = JSON.parse(text) as { detail?: string; errors?: FieldProblem[] };
    return new Problem(status, body.detail ?? words, body.errors ?? []);
  } catch {
    return new Problem(status, `The service answers ${status} ${words}`);
  }
}

/** POST a form with files, and be told how much of it has gone; `fetch` does not tell. */
export function upload<T>(path: string, form: FormData, told: (share: number) => void, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const sending = new XMLHttpRequest();
    sending.open("POST", PREFIX + path);
    for (const [name, value] of Object.entries(authorisation())) sending.setRequestHeader(name, value);
    sending.upload.onprogress = ({ loaded, total }) => told(total ? loaded / total : 0);
    sending.onerror = () => reject(new Problem(0, "The service does not answer. Is it running?"));
    sending.onabort = () => reject(new Problem(0, "The upload was stopped."));
    sending.onload = () => {
      if (sending.status < 200 || sending.status > 299) {
        reject(problemIn(sending.status, sending.statusText, sending.responseText));
        return;
      }
      try {
        resolve(JSON.parse(sending.responseText) as T);
      } catch {
        reject(new Problem(0, "The answer is not one of Hamtune. Does something between here and the service change it?"));
      }
    };
    signal?.addEventListener("abort", () => sending.abort());
    sending.send(form);
  });
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await request(path, signal ? { signal } : {})).json()) as T;
}

export async function post<T>(path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
  return (await (await request(path, { ...posting(body, headers), ...(signal ? { signal } : {}) })).json()) as T;
}

export async function put<T>(path: string, body: unknown): Promise<T> {
  return (await (await request(path, { ...posting(body), method: "PUT" })).json()) as T;
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return (await (await request(path, { ...posting(body), method: "PATCH" })).json()) as T;
}

/** DELETE; of most things nothing is left to be told. */
export async function remove<T = void>(path: string): Promise<T> {
  const response = await request(path, { method: "DELETE" });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

function posting(body: unknown, headers: Record<string, string> = {}): RequestInit {
  const init: RequestInit = { method: "POST", headers: { ...headers } };
  if (body instanceof FormData) {
    init.body = body; // the browser says where its parts end
  } else if (typeof body === "string") {
    init.body = body;
    init.headers = { "Content-Type": "application/yaml", ...headers };
  } else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json", ...headers };
  }
  return init;
}

/** Fetch a file with the key and hand it to the browser's downloads. */
export async function download(path: string, fallbackName: string): Promise<void> {
  await keep(await request(path), fallbackName);
}

/** The same of a file that is made to order; answers what the service says beside it. */
export async function downloadFor(path: string, wishes: unknown, fallbackName: string): Promise<Headers> {
  const response = await request(path, posting(wishes));
  await keep(response, fallbackName);
  return response.headers;
}

async function keep(response: Response, fallbackName: string): Promise<void> {
  const named = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
  save(await response.blob(), named?.[1] ?? fallbackName);
}

export function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
