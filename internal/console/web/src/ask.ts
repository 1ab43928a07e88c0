import { read } from "./live";

const kept = "landscaper-key";

/** Keeps the key that the link of the command line has brought: this page can act with it. */
export function keepKey() {
  const key = /^#key=([A-Z2-7]+)$/.exec(location.hash)?.[1];
  if (!key) return;
  // Other ports of this machine get the cookie, but not this.
  localStorage.setItem(kept, key);
  history.replaceState(null, "", location.pathname + location.search);
}

/** What the server has answered: the content, or why there is none. */
export type Answer<T> = { content: T; wrong?: undefined } | { content?: undefined; wrong: string; status: number };

/** Asks the server for something, or tells it to do something, in the name of the user. */
export async function ask<T>(address: string, request?: unknown, signal?: AbortSignal): Promise<Answer<T>> {
  const headers: Record<string, string> = { "X-Landscaper-Console": "1" };
  const key = localStorage.getItem(kept);
  if (key) headers["X-Landscaper-Key"] = key;
  try {
    const answer = await fetch(address, request === undefined ? { headers, signal } : { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(request) });
    if (answer.status === 401) location.reload();
    const text = await answer.text();
    if (!answer.ok) return { wrong: read<string>(JSON.stringify(text.trim())) || `The answer was ${answer.status}.`, status: answer.status };
    return { content: read<T>(text) };
  } catch {
    return { wrong: "The console does not answer. It is not known whether it has carried this out: look before you try again.", status: 0 };
  }
}
