import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, keepKey } from "../src/ask";

interface Sent {
  address: string;
  init: RequestInit & { headers: Record<string, string> };
}

/** The parts of a browser that asking needs, with an answer that the test gives. */
function browser(hash = "", answer: () => Promise<Response> = async () => new Response("{}")) {
  const kept = new Map<string, string>();
  const seen = { sent: [] as Sent[], replaced: [] as string[], reloads: 0, kept };
  const parts: Record<string, unknown> = {
    location: { hash, pathname: "/n/shop/web", search: "?zoom=2", reload: () => seen.reloads++ },
    localStorage: { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, text: string) => kept.set(key, text) },
    history: { replaceState: (_state: unknown, _title: string, address: string) => seen.replaced.push(address) },
    fetch: (address: string, init: Sent["init"]) => {
      seen.sent.push({ address, init });
      return answer();
    },
  };
  for (const [name, part] of Object.entries(parts)) Object.defineProperty(globalThis, name, { value: part, configurable: true });
  return seen;
}

test("the key of the link is kept, and leaves the address", () => {
  const rows: [why: string, hash: string, want: string | undefined][] = [
    ["the link of the command line", "#key=ABCDEFGHIJ234567", "ABCDEFGHIJ234567"],
    ["a place on the page", "#item-web", undefined],
    ["nothing", "", undefined],
    ["an empty key would take away the one that is kept", "#key=", undefined],
    ["no key has such characters", "#key=ABC<script>", undefined],
    ["a key among others is not of the command line", "#a&key=ABC", undefined],
  ];
  for (const [why, hash, want] of rows) {
    const seen = browser(hash);
    keepKey();
    assert.deepEqual([...seen.kept.values()], want ? [want] : [], why);
    assert.deepEqual(seen.replaced, want ? ["/n/shop/web?zoom=2"] : [], `${why}: what stays of the address`);
  }
});

test("requests say that they come from a page of the console, and have the key", async () => {
  const seen = browser("#key=ABC");
  await ask("/actions");
  assert.deepEqual(seen.sent[0].init.headers, { "X-Landscaper-Console": "1" }, "there is no key yet");
  assert.equal(seen.sent[0].init.method, undefined, "a question is a GET");
  keepKey();
  await ask("/act/reconcile/shop/web", { uid: "1" });
  const { address, init } = seen.sent[1];
  assert.deepEqual([address, init.method, init.body], ["/act/reconcile/shop/web", "POST", '{"uid":"1"}']);
  assert.deepEqual(init.headers, { "X-Landscaper-Console": "1", "X-Landscaper-Key": "ABC", "Content-Type": "application/json" });
});

test("what a page shows of an answer", async () => {
  const rows: [why: string, answer: () => Promise<Response>, content: unknown, wrong: RegExp | undefined, status: number | undefined, reloads: number][] = [
    ["the content", async () => new Response('{"uid":"1"}'), { uid: "1" }, undefined, undefined, 0],
    ["texts of others are harmless", async () => new Response('{"remarks":["\\u202ea"]}'), { remarks: ["\ufffda"] }, undefined, undefined, 0],
    ["the server says what is wrong", async () => new Response("It is gone.\n", { status: 404 }), undefined, /^It is gone\.$/, 404, 0],
    ["what is wrong is harmless, too", async () => new Response("a\u001bb", { status: 409 }), undefined, /^a\ufffdb$/, 409, 0],
    ["an answer without a text", async () => new Response("", { status: 502 }), undefined, /^The answer was 502\.$/, 502, 0],
    ["the session has ended: to the login", async () => new Response("Log in.", { status: 401 }), undefined, /^Log in\.$/, 401, 1],
    ["the connection was lost: it may have been carried out", () => Promise.reject(new TypeError("lost")), undefined, /not known whether/, 0, 0],
    ["a proxy answers with a page of its own", async () => new Response("<html>"), undefined, /not known whether/, 0, 0],
  ];
  for (const [why, reply, content, wrong, status, reloads] of rows) {
    const seen = browser("", reply);
    const answer = await ask<unknown>("/actions");
    assert.deepEqual(answer.content, content, why);
    assert.equal("status" in answer ? answer.status : undefined, status, why);
    if (wrong) assert.match(answer.wrong ?? "", wrong, why);
    else assert.equal(answer.wrong, undefined, why);
    assert.equal(seen.reloads, reloads, why);
  }
});
