import assert from "node:assert/strict";
import { test } from "node:test";
import { arrange, hasBorders, line, namesInside, short, type Block } from "../src/flow";
import type { FlowValue, Scope, Unit } from "../src/model";

const unit = (name: string, more: Partial<Unit> = {}): Unit => ({ name, title: name, state: "Ready", phase: "Succeeded", ...more });
const value = (name: string, exporters: string[], importers: string[]): FlowValue => ({ kind: "DataObject", name, exporters, importers });
const draw = (scope: Scope, open: string[] = [], borders = true) => arrange(scope, { open: new Set(open), borders });

const nameOf = (block: Block) => block.unit?.name ?? block.value?.name ?? "space";
const columns = (blocks: Block[]) => Object.fromEntries(blocks.filter((block) => nameOf(block) !== "space").map((block) => [nameOf(block), block.column]));
const find = (blocks: Block[], name: string) => blocks.find((block) => nameOf(block) === name)!;

/** A database, an application that needs it, and a value from outside; the application's name comes first. */
const chain: Scope = {
  units: [unit("app"), unit("db"), unit("mail")],
  values: [value("dsn", ["db"], ["app"]), value("url", ["app"], ["mail"]), value("region", [], ["mail"])],
};

test("values flow from left to right", () => {
  const rows: [why: string, scope: Scope, want: Record<string, number>][] = [
    ["the order of the list does not matter; what comes from outside stands next to who needs it", chain, { db: 0, dsn: 1, app: 2, url: 3, region: 3, mail: 4 }],
    ["who exchanges nothing stands in the first column", { units: [unit("a"), unit("b")] }, { a: 0, b: 0 }],
    ["a value from outside that the first needs moves it", { units: [unit("a")], values: [value("v", [], ["a"])] }, { v: 0, a: 1 }],
    ["of two exporters the last counts", { units: [unit("a"), unit("b"), unit("c")], values: [value("x", ["a"], ["b"]), value("y", ["a", "b"], ["c"])] }, { a: 0, x: 1, b: 2, y: 3, c: 4 }],
    ["names that are not in the picture are no lines", { units: [unit("a")], values: [value("v", ["gone"], ["a", "lost"])] }, { v: 0, a: 1 }],
    ["there is nothing", { units: [] }, {}],
  ];
  for (const [why, scope, want] of rows) assert.deepEqual(columns(draw(scope).blocks), want, why);
});

test("each value has a line from its exporter, and one to its importer", () => {
  const lines = draw(chain).edges.map((edge) => `${nameOf(edge[0])} ${nameOf(edge[edge.length - 1])}`);
  assert.deepEqual(lines.sort(), ["app url", "db dsn", "dsn app", "region mail", "url mail"]);
});

test("a cycle ends, and all of it has a place", () => {
  const { blocks, edges, w, h } = draw({ units: [unit("a"), unit("b")], values: [value("x", ["a"], ["b"]), value("y", ["b"], ["a"])] });
  assert.deepEqual(blocks.map(nameOf).filter((name) => name !== "space").sort(), ["a", "b", "x", "y"]);
  for (const block of blocks) assert.ok(block.column < 4, "no column is behind the last");
  assert.ok(Number.isFinite(w) && Number.isFinite(h));
  for (const edge of edges) assert.ok(!line(edge).includes("NaN"));
});

test("a line that passes columns has a space in each of them", () => {
  const scope: Scope = { ...chain, values: [...chain.values!, value("key", ["db"], ["mail"])] };
  const edge = draw(scope).edges.find(([from, ...rest]) => nameOf(from) === "key" && nameOf(rest[rest.length - 1]) === "mail")!;
  assert.deepEqual(edge.map((block) => block.column), [1, 2, 3, 4]);
  assert.deepEqual(edge.map(nameOf), ["key", "space", "space", "mail"]);
});

/** Whether two blocks have a point in common. */
function overlap(a: Block, b: Block): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function checkPlaces(why: string, scope: Scope, open: string[], borders: boolean) {
  const { blocks, w, h } = draw(scope, open, borders);
  blocks.forEach((block, at) => {
    assert.ok(block.x >= 0 && block.y >= 0 && block.x + block.w <= w && block.y + block.h <= h, `${why}: ${nameOf(block)} is in the picture`);
    for (const other of blocks.slice(at + 1)) assert.ok(!overlap(block, other), `${why}: ${nameOf(block)} and ${nameOf(other)} do not cover each other`);
    if (block.inside) assert.ok(block.inside.w <= block.w && block.inside.h < block.h, `${why}: what is inside of ${nameOf(block)} has room`);
  });
}

const nested: Scope = { units: [unit("outer", { inside: { units: [unit("inner", { inside: chain }), unit("last")], values: [value("v", ["inner"], ["last"])] } }), unit("next")], values: [value("out", ["outer"], ["next"])] };
const lanes: Scope = {
  units: [unit("db", { targets: ["us"] }), unit("app", { targets: ["eu"] }), unit("mail", { targets: ["eu"] }), unit("dns", { targets: ["eu", "us"] }), unit("doc")],
  values: [value("dsn", ["db"], ["app", "mail"]), value("key", ["app"], ["mail"]), value("region", [], ["app", "mail"]), value("zone", [], ["db", "app"])],
};
const wide: Scope = { units: Array.from({ length: 40 }, (_, at) => unit(`unit-${at}-with-a-name-that-is-too-long-for-its-box`)), values: Array.from({ length: 39 }, (_, at) => value(`value-${at}`, [`unit-${at % 7}-with-a-name-that-is-too-long-for-its-box`], [`unit-${at + 1}-with-a-name-that-is-too-long-for-its-box`])) };

test("nothing covers anything else, and all is in the picture", () => {
  const rows: [why: string, scope: Scope, open: string[], borders: boolean][] = [
    ["a chain", chain, [], true],
    ["one that is open makes room", nested, ["outer"], true],
    ["one that is open inside of another", nested, ["outer", "inner"], true],
    ["groups of Targets", lanes, [], true],
    ["the same without groups", lanes, [], false],
    ["many", wide, [], true],
  ];
  for (const row of rows) checkPlaces(...row);
});

test("what is inside is drawn where it is open", () => {
  const rows: [why: string, open: string[], outer: boolean, inner: boolean][] = [
    ["all is closed", [], false, false],
    ["the outer one is open", ["outer"], true, false],
    ["both are open", ["outer", "inner"], true, true],
    ["an inner one of one that is closed is not seen", ["inner"], false, false],
  ];
  for (const [why, open, outer, inner] of rows) {
    const inside = find(draw(nested, open).blocks, "outer").inside;
    assert.deepEqual([Boolean(inside), Boolean(inside && find(inside.blocks, "inner").inside)], [outer, inner], why);
  }
  assert.deepEqual(namesInside(nested), ["outer", "inner"], "the button opens all of them");
});

test("groups are those of one Target", () => {
  const { blocks, bands } = draw(lanes);
  assert.deepEqual(bands.map((band) => band.name), ["eu", "us"]);
  const rows: [why: string, name: string, want: string][] = [
    ["it deploys to one Target", "app", "eu"],
    ["it deploys to two: it is in none", "dns", ""],
    ["it deploys nothing", "doc", ""],
    ["a value is where it comes from", "dsn", "us"],
    ["a value from outside that one group needs", "region", "eu"],
    ["a value from outside that several groups need", "zone", ""],
  ];
  for (const [why, name, want] of rows) assert.equal(find(blocks, name).lane, want, why);
  for (const block of blocks) {
    for (const band of bands) {
      const within = block.y >= band.y && block.y + block.h <= band.y + band.h;
      assert.equal(within, block.lane === band.name, `${nameOf(block)} and the border of ${band.name}`);
    }
  }
  assert.ok(bands[0].y >= 0 && bands[1].y >= bands[0].y + bands[0].h, "one border is below the other");
  assert.deepEqual(draw(lanes, [], false).bands, [], "they can be switched off");
});

test("whether borders of Targets say something", () => {
  const one = { units: [unit("a", { targets: ["eu"] }), unit("b", { targets: ["eu"] })] };
  const around: Scope = { units: [unit("outer", { inside: lanes, targets: ["eu"] })] };
  const rows: [why: string, scope: Scope, open: string[], want: boolean][] = [
    ["all on one Target", one, [], false],
    ["two Targets", lanes, [], true],
    ["two Targets inside of what is closed", around, [], false],
    ["two Targets inside of what is open", around, ["outer"], true],
    ["nothing is deployed", { units: [unit("a")] }, [], false],
  ];
  for (const [why, scope, open, want] of rows) assert.equal(hasBorders(scope, new Set(open)), want, why);
  assert.deepEqual(draw(one).bands, [], "one group of all would be no group");
});

test("a line begins at the right edge of one block, and ends at the left edge of the next", () => {
  const block = (x: number, y: number): Block => ({ lane: "", column: 0, x, y, w: 100, h: 20 });
  assert.equal(line([block(0, 0), block(200, 40)]), "M100 10C150 10 150 50 200 50");
  assert.equal(line([block(0, 0), block(200, 40), block(400, 0)]), "M100 10C150 10 150 50 200 50L300 50C350 50 350 10 400 10", "it goes on through the space between");
  assert.equal(line([block(0, 0), block(110, 0)]), "M100 10C120 10 90 10 110 10", "blocks that are near have a curve, too");
});

test("long names are shortened to what a box has room for", () => {
  assert.equal(short("a".repeat(26)), "a".repeat(26));
  assert.equal(short("a".repeat(27)), "a".repeat(25) + "…");
});
