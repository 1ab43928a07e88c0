import assert from "node:assert/strict";
import { test } from "node:test";
import { afterLoss, follow, read, shownAt, type Browser, type Known, type Stream } from "../src/live";

/** A browser whose streams and time the test moves. */
class FakeBrowser implements Browser {
  streams: (Stream & { address: string; closed: boolean })[] = [];
  private lastTimer = 0;
  private timers = new Map<number, { at: number; run: () => void }>();
  now = 0;
  isHidden = false;
  watchers = new Set<() => void>();
  sessionChecks = 0;

  open(address: string) {
    const stream = { address, closed: false, onmessage: null, onerror: null, close: () => void (stream.closed = true) };
    this.streams.push(stream);
    return stream as Stream;
  }
  after(milliseconds: number, run: () => void) {
    this.timers.set(++this.lastTimer, { at: this.now + milliseconds, run });
    return this.lastTimer;
  }
  cancel(timer: number) {
    this.timers.delete(timer);
  }
  hidden() {
    return this.isHidden;
  }
  whenSeen(run: () => void) {
    this.watchers.add(run);
    return () => void this.watchers.delete(run);
  }
  checkSession() {
    this.sessionChecks++;
  }

  pass(milliseconds: number) {
    this.now += milliseconds;
    for (const [timer, { at, run }] of [...this.timers]) {
      if (at > this.now) continue;
      this.timers.delete(timer);
      run();
    }
  }
  show(yes: boolean) {
    this.isHidden = !yes;
    for (const run of this.watchers) run();
  }
  get last() {
    return this.streams[this.streams.length - 1];
  }
  get connected() {
    return this.streams.filter((stream) => !stream.closed).length;
  }
  send(text: string) {
    this.last.onmessage!({ data: text } as MessageEvent);
  }
  fail() {
    this.last.onerror!({} as Event);
  }
}

function following(browser = new FakeBrowser()) {
  const heard: string[] = [];
  const stop = follow("/live/n/shop/web", { got: (text) => heard.push(text), lost: () => heard.push("lost") }, browser);
  return { browser, heard, stop };
}

test("messages arrive in their order", () => {
  const { browser, heard } = following();
  assert.deepEqual(browser.streams.map((stream) => stream.address), ["/live/n/shop/web"]);
  browser.send("1");
  browser.send("2");
  assert.deepEqual(heard, ["1", "2"]);
});

test("a lost connection is taken up again after a second, as often as it takes", () => {
  const { browser, heard } = following();
  browser.send("1");
  for (let times = 1; times <= 3; times++) {
    browser.fail();
    assert.equal(browser.connected, 0, "the browser must not try by itself, too");
    assert.equal(browser.sessionChecks, times, "the session may be why it ended");
    browser.pass(999);
    assert.equal(browser.connected, 0, "a server that restarts is not asked at once");
    browser.pass(1);
    assert.equal(browser.connected, 1);
  }
  browser.send("2");
  assert.deepEqual(heard, ["1", "lost", "lost", "lost", "2"]);
});

test("a hidden page has no connection", () => {
  const { browser, heard } = following();
  browser.show(false);
  assert.equal(browser.connected, 0);
  browser.show(true);
  assert.equal(browser.connected, 1);
  browser.send("1");
  assert.deepEqual(heard, ["1"], "hiding a page is no loss");
});

test("a page that is opened in the background connects when it is seen", () => {
  const hidden = new FakeBrowser();
  hidden.isHidden = true;
  const { browser } = following(hidden);
  assert.equal(browser.streams.length, 0);
  browser.show(true);
  assert.equal(browser.connected, 1);
});

test("a page that is hidden while it waits to connect does not", () => {
  const { browser } = following();
  browser.fail();
  browser.show(false);
  browser.pass(5000);
  assert.equal(browser.connected, 0);
});

test("a page that is seen while it waits connects at once, and only once", () => {
  const { browser } = following();
  browser.fail();
  browser.show(true);
  assert.equal(browser.connected, 1);
  browser.pass(5000);
  assert.equal(browser.connected, 1);
});

test("a page that was left neither listens nor comes back", () => {
  const { browser, stop } = following();
  browser.fail();
  stop();
  browser.pass(5000);
  browser.show(true);
  assert.equal(browser.streams.length, 1);
  assert.equal(browser.connected, 0);

  const other = following();
  other.stop();
  assert.equal(other.browser.connected, 0);
});

const overview: Known<string> = { address: "/live/overview?q=", view: "all", lost: false };

test("what is shown at an address", () => {
  const rows: [why: string, address: string, want: string | undefined][] = [
    ["the same address", "/live/overview?q=", "all"],
    ["while a search is typed, the last result stays", "/live/overview?q=web", "all"],
    ["another page must not show it", "/live/n/shop/web", undefined],
    ["a page whose address begins in the same way is another one", "/live/overview2", undefined],
  ];
  for (const [why, address, want] of rows) assert.equal(shownAt(overview, address).view, want, why);
  assert.equal(shownAt({ ...overview, lost: true }, "/live/jobs").lost, true, "that the connection is lost is said on each page");
});

test("what is shown after a loss", () => {
  const rows: [why: string, address: string, want: string | undefined][] = [
    ["the last view stays on the screen", "/live/overview?q=", "all"],
    ["that of the last search does, too", "/live/overview?q=web", "all"],
    ["a page that never got its view must not show that of the page before", "/live/n/shop/web", undefined],
  ];
  for (const [why, address, want] of rows) {
    const known = afterLoss(overview, address);
    assert.deepEqual([known.view, known.address, known.lost, shownAt(known, address).view], [want, address, true, want], why);
  }
});

test("texts of others are harmless after they were read", () => {
  const rows: [why: string, text: string, want: string][] = [
    ["plain text stays", "it is ready", "it is ready"],
    ["line breaks and tabs stay: messages have them", "a\n\tb", "a\n\tb"],
    ["a terminal escape", "\u001b[31mred", "\ufffd[31mred"],
    ["a carriage return would overwrite in a terminal", "a\rb", "a\ufffdb"],
    ["the second block of control characters", "a\u0085b\u009bc", "a\ufffdb\ufffdc"],
    ["an override that turns the direction of writing around", "exe\u202egpj", "exe\ufffdgpj"],
    ["an isolate", "\u2066a\u2069", "\ufffda\ufffd"],
    ["marks of direction", "\u061c\u200e\u200fa", "\ufffd\ufffd\ufffda"],
    ["separators of lines and paragraphs", "a\u2028b\u2029", "a\ufffdb\ufffd"],
    ["letters that are written from the right stay", "\u05d0\u0628", "\u05d0\u0628"],
    ["markup stays, since it is shown as text", "<b>&amp;</b>", "<b>&amp;</b>"],
  ];
  for (const [why, text, want] of rows) {
    assert.equal(read(JSON.stringify(text)), want, why);
    assert.deepEqual(read(JSON.stringify({ rows: [{ why: text }] })), { rows: [{ why: want }] }, `${why}, deep inside`);
  }
  assert.deepEqual(read('{"n":1,"yes":true,"none":null}'), { n: 1, yes: true, none: null }, "other values stay");
});
