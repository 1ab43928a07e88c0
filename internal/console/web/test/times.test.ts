import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, clockTime, span } from "../src/parts";
import { extent, inWords, marksOf, measured, percent } from "../src/timeline";
import type { Bar, Span, Timeline } from "../src/model";
import { thing } from "./things";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test("how long ago something was", () => {
  const rows: [why: string, milliseconds: number, want: string][] = [
    ["now", 0, "just now"],
    ["the server's clock is ahead", -5 * minute, "just now"],
    ["seconds would only flicker", 19 * second, "just now"],
    ["tens of seconds", 20 * second, "20 s ago"],
    ["tens are not rounded up: it was not 30 s ago yet", 29 * second, "20 s ago"],
    ["the last seconds", 89 * second, "80 s ago"],
    ["minutes", 90 * second, "2 min ago"],
    ["an hour and a half is where hours begin", 90 * minute - second, "90 min ago"],
    ["hours", 90 * minute, "2 h ago"],
    ["a day and a half is where days begin", 36 * hour - minute, "36 h ago"],
    ["days", 36 * hour, "2 days ago"],
    ["long ago", 400 * day, "400 days ago"],
  ];
  for (const [why, milliseconds, want] of rows) assert.equal(ago(milliseconds), want, why);
});

test("how long something took", () => {
  const rows: [why: string, milliseconds: number, want: string][] = [
    ["nothing", 0, "0 s"],
    ["clocks of two machines differ", -3 * second, "0 s"],
    ["half a second is rounded", 500, "1 s"],
    ["not 60 s", minute - 400, "1 min"],
    ["seconds", 59 * second, "59 s"],
    ["minutes with seconds", 65 * second, "1 min 5 s"],
    ["whole minutes", 2 * minute, "2 min"],
    ["of hours, seconds do not matter", hour + 5 * minute + 7 * second, "1 h 5 min"],
    ["whole hours", 3 * hour + 20 * second, "3 h"],
    ["days are hours", 50 * hour, "50 h"],
  ];
  for (const [why, milliseconds, want] of rows) assert.equal(span(milliseconds), want, why);
});

test("times are in the zone of the reader", () => {
  const before = process.env.TZ;
  const rows: [why: string, zone: string, want: RegExp][] = [
    ["Greenwich", "UTC", /\b(22|10):45:00\b/],
    ["half an hour beside the others, and already the next day", "Asia/Kolkata", /\b0?4:15:00\b/],
    ["the hour of summer counts", "Europe/Berlin", /\b(00|12|0):45:00\b/],
    ["west of Greenwich", "America/New_York", /\b(18|0?6):45:00\b/],
  ];
  try {
    for (const [why, zone, want] of rows) {
      process.env.TZ = zone;
      assert.match(clockTime("2026-06-30T22:45:00Z"), want, why);
    }
    process.env.TZ = "Asia/Kolkata";
    assert.match(clockTime("2026-06-30T22:45:00Z"), /\b0?1\b/, "it is the first of July there");
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

const start = Date.parse("2026-01-01T10:00:00Z");
const clock = (seconds: number) => new Date(start + seconds * second).toISOString();
const bar = (...spans: [kind: Span["kind"], from: number, to?: number][]): Bar => ({
  ...thing(),
  spans: spans.map(([kind, from, to]) => ({ kind, from: clock(from), to: to === undefined ? undefined : clock(to) })),
});

test("how far a timeline reaches", () => {
  const running: Timeline = { start: clock(0), bars: [bar(["works", 0, 10]), bar(["waits", 2])] };
  const rows: [why: string, timeline: Timeline, last: number, length: number][] = [
    ["a job that runs: until now", running, 30, 30],
    ["what has no end in a job that has one lasts until that", { ...running, end: clock(20) }, 20, 20],
    ["all has ended", { start: clock(0), end: clock(12), bars: [bar(["works", 0, 10])] }, 10, 10],
    ["the server's clock is ahead of the reader's: what has ended counts", { start: clock(0), bars: [bar(["works", 0, 45]), bar(["waits", 2])] }, 45, 45],
    ["a job too short to be measured has a width, nothing is divided by zero", { start: clock(0), end: clock(0), bars: [bar(["works", 0, 0])] }, 0, 1],
  ];
  for (const [why, timeline, last, length] of rows) {
    assert.deepEqual(extent(timeline, start + 30 * second), { start, last: start + last * second, length: length * second }, why);
  }
});

test("marks of the axis", () => {
  const rows: [why: string, seconds: number, want: number[]][] = [
    ["one second", 1, [0]],
    ["each second", 5, [0, 1, 2, 3, 4]],
    ["a step that is a round number", 42, [0, 10, 20, 30]],
    ["no mark where its text would be cut off at the edge", 30, [0, 10, 20]],
    ["minutes", 290, [0, 60, 120, 180, 240]],
    ["half an hour: not each of 1800 seconds", 1800, [0, 600, 1200]],
    ["a day", 86_400, [0, 43_200]],
  ];
  for (const [why, seconds, want] of rows) assert.deepEqual(marksOf(seconds * second).map((at) => at / second), want, why);
  for (const days of [30, 400, 40_000]) {
    const count = marksOf(days * day).length;
    assert.ok(count >= 2 && count <= 5, `a job of ${days} days has ${count} marks, which have room`);
  }
});

test("the spans of a bar have their places", () => {
  const spans = measured(bar(["queued", 0, 5], ["works", 5, 15], ["waits", 15]), start, 20 * second, start + 20 * second);
  assert.deepEqual(
    spans.map(({ at, share, took, open }) => [at, share, took / second, open]),
    [
      [0, 0.25, 5, false],
      [0.25, 0.5, 10, false],
      [0.75, 0.25, 5, true],
    ],
  );
  assert.equal(inWords(spans), "not picked up 5 s, at work 10 s, waits for others 5 s until now", "who does not see the bar hears it");
  assert.equal(inWords(measured(bar(["below", 0, 60]), start, minute, start)), "objects below work 1 min");
});

test("shares in percent stay in the picture", () => {
  const rows: [why: string, share: number, want: string][] = [
    ["all", 1, "100.000%"],
    ["a third", 1 / 3, "33.333%"],
    ["before the beginning", -0.1, "0.000%"],
    ["behind the end", 1.2, "100.000%"],
  ];
  for (const [why, share, want] of rows) assert.equal(percent(share), want, why);
});
