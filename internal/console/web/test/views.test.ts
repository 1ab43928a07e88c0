import assert from "node:assert/strict";
import { test } from "node:test";
import { named, written } from "../src/actions";
import { approvalsOf } from "../src/approval";
import { chosen, differsUnlisted, sameOf } from "../src/compare";
import { hasEarlier, objectsOf } from "../src/jobs";
import { scopeOf, states, type Comparison, type Frame, type Job, type State, type Step } from "../src/model";
import { needsAttention } from "../src/overview";
import { masked, type Happens } from "../src/plan";
import { relation } from "../src/why";
import { thing } from "./things";

test("what needs attention is what does not come to its end by itself", () => {
  const rows: [state: State, want: boolean][] = [
    ["Failed", true],
    ["Stalled", true],
    ["Missing", true],
    ["Waiting", true],
    ["Running", false],
    ["Ready", false],
  ];
  for (const [state, want] of rows) assert.equal(needsAttention(thing({ state })), want, state);
  assert.deepEqual(states, rows.map(([state]) => state), "the list of states begins with what is worst");
});

test("what an overview is of", () => {
  const rows: [why: string, frame: Partial<Frame>, want: string][] = [
    ["everything", {}, "All namespaces"],
    ["what the user may see", { limited: true }, "Your namespaces"],
    ["one namespace that was asked for", { scope: "shop" }, "Namespace shop"],
    ["one namespace stays one, whatever the rights", { scope: "shop", limited: true }, "Namespace shop"],
  ];
  for (const [why, frame, want] of rows) assert.equal(scopeOf({ where: "lab", ...frame }), want, why);
});

test("how one hop leads to the next", () => {
  const hop = (step: Partial<Step>): Step => ({ ...thing(), ...step });
  const web = hop({ title: "web", name: "web-x7k2p" });
  const rows: [why: string, step: Step, before: Step, want: string][] = [
    ["a part", hop({ title: "part" }), web, "web is not ready because of"],
    ["an Execution has no title of its own", hop({}), hop({ kind: "Execution", name: "web-x7k2p", title: "Execution" }), "web-x7k2p is not ready because of"],
    ["a sibling that exports", hop({ beside: true, values: ["db", "user"] }), web, "web imports db, user from"],
    ["a sibling of which nothing is imported", hop({ beside: true, values: [] }), web, "web waits for the end of"],
    ["it is not known what is imported", hop({ beside: true }), web, "web waits for the end of"],
  ];
  for (const [why, step, before, want] of rows) assert.equal(relation(step, before), want, why);
});

const job = (jobID: string, more: Partial<Job> = {}): Job => ({ jobID, ...more });

test("a job can be compared when there is one before it", () => {
  const web = thing();
  const other = thing({ name: "db" });
  const elsewhere = thing({ namespace: "test" });
  const rows: [why: string, jobs: Job[], at: number, want: boolean][] = [
    ["the newest of two", [job("2"), job("1")], 0, true],
    ["the oldest", [job("2"), job("1")], 1, false],
    ["the only one", [job("1")], 0, false],
    ["another Installation's job comes between", [job("2", { of: web }), job("5", { of: other }), job("1", { of: web })], 0, true],
    ["only another Installation has one", [job("2", { of: web }), job("5", { of: other })], 0, false],
    ["one of the same name in another namespace is another one", [job("2", { of: web }), job("5", { of: elsewhere })], 0, false],
  ];
  for (const [why, jobs, at, want] of rows) assert.equal(hasEarlier(jobs, at), want, why);
});

test("which jobs are compared", () => {
  const jobs = [job("3"), job("2"), job("1")];
  const view: Comparison = { ...thing(), where: "lab", jobs, earlier: jobs[1], later: jobs[0] };
  const rows: [why: string, query: string, earlier: string, later: string][] = [
    ["nothing is chosen: what the server compares", "", "2", "3"],
    ["the address is ahead of the view", "?one=2&other=1", "1", "2"],
    ["the later one is later, however they are written", "?one=1&other=3", "1", "3"],
    ["one alone: the server knows the one before", "?one=3", "2", "3"],
    ["a job that is not recorded any more", "?one=3&other=0", "2", "3"],
    ["the same job twice is no choice", "?one=1&other=1", "2", "3"],
  ];
  for (const [why, query, earlier, later] of rows) {
    const got = chosen(view, jobs, new URL(`https://console.example.org/compare/shop/web${query}`));
    assert.deepEqual([got.earlier?.jobID, got.later?.jobID], [earlier, later], why);
  }
});

test("what is the same in two jobs", () => {
  const one = job("1", { trigger: "change", requestedBy: "kubectl", phase: "Failed", reason: "HelmFailed", component: "web:1.0.0", generation: 3, importsHash: "abc" });
  const same = { by: true, phase: true, reason: true, component: true, generation: true, imports: true };
  const rows: [why: string, later: Partial<Job>, want: Partial<Record<keyof typeof same, boolean | undefined>>][] = [
    ["only the times differ", { jobID: "2", start: "2026-01-01T10:00:00Z", running: "5s" }, {}],
    ["something else has started it", { trigger: "schedule" }, { by: false }],
    ["the same operation of another client", { requestedBy: "flux" }, { by: false }],
    ["it ended in another way, and for no reason", { phase: "Succeeded", reason: undefined }, { phase: false, reason: false }],
    ["a job that runs has no reason yet: nothing is said of it", { phase: undefined, reason: undefined }, { phase: false, reason: undefined }],
    ["another version", { component: "web:1.1.0" }, { component: false }],
    ["another spec", { generation: 4 }, { generation: false }],
    ["other imports", { importsHash: "abd" }, { imports: false }],
  ];
  for (const [why, later, want] of rows) {
    assert.deepEqual(sameOf(one, { ...one, ...later }), { ...same, ...want }, why);
    assert.deepEqual(sameOf({ ...one, ...later }, one), { ...same, ...want }, `${why}, the other way around`);
  }
});

test("an import that differs and is not listed is said", () => {
  const rows: [why: string, imports: Comparison["imports"], same: boolean, want: boolean][] = [
    ["nothing differs", [{ name: "a", earlier: "1", later: "1" }], true, false],
    ["what differs is listed", [{ name: "a", earlier: "1", later: "2" }], false, false],
    ["one that is new is listed", [{ name: "a", later: "2" }], false, false],
    ["all that are listed are the same", [{ name: "a", earlier: "1", later: "1" }], false, true],
    ["none is listed", undefined, false, true],
  ];
  for (const [why, imports, same, want] of rows) assert.equal(differsUnlisted({ ...thing(), where: "lab", imports }, same), want, why);
});

test("of a secret it is only said whether it changes", () => {
  const rows: [action: Happens, want: string][] = [
    ["update", "secret, changed"],
    ["create", "secret, created"],
    ["delete", "secret, deleted"],
  ];
  for (const [action, want] of rows) assert.equal(masked(action), want);
});

test("imports that a form gives values", () => {
  const rows: [why: string, fields: [string, string][], want: object[]][] = [
    ["a text", [["text/size", "3"], ["kind/size", ""]], [{ name: "size", text: "3", anything: false }]],
    ["YAML", [["text/map", "{a: 1}"], ["kind/map", "yaml"]], [{ name: "map", text: "{a: 1}", anything: true }]],
    ["what stays empty is left as it is", [["text/size", ""], ["kind/size", "yaml"]], []],
    ["spaces are a value", [["text/size", " "], ["kind/size", ""]], [{ name: "size", text: " ", anything: false }]],
    ["an import whose name looks like a field", [["text/kind/a", "1"], ["kind/kind/a", "yaml"]], [{ name: "kind/a", text: "1", anything: true }]],
    ["the kind of another import is nothing to it", [["text/a", "1"], ["kind/a", ""], ["text/b", ""], ["kind/b", "yaml"]], [{ name: "a", text: "1", anything: false }]],
  ];
  for (const [why, fields, want] of rows) {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    assert.deepEqual(written(form), want, why);
  }
});

test("objects that go are named with their namespace", () => {
  assert.equal(named({ kind: "ConfigMap", namespace: "shop", name: "web" }), "ConfigMap shop/web");
  assert.equal(named({ kind: "Namespace", name: "shop" }), "Namespace shop", "it is in none");
});

test("who has approved a plan, and how many have to", () => {
  const rows: [why: string, stored: Parameters<typeof approvalsOf>[0], want: string][] = [
    ["no user yet", { needs: 1 }, "Approved by no user yet: 0 of 1 approval"],
    ["one of two", { needs: 2, approvedBy: ["ann"] }, "Approved by ann: 1 of 2 approvals"],
    ["an approval that does not count", { needs: 2, approvedBy: ["ann"], void: ["bob"] }, "Approved by ann: 1 of 2 approvals; too old, or without the parts that only the job can know: bob"],
    ["how many have to is for those who may read policies", { approvedBy: ["ann", "bob"] }, "Approved by ann and bob"],
  ];
  for (const [why, stored, want] of rows) assert.equal(approvalsOf(stored), want, why);
});

test("what a job has changed on clusters", () => {
  const rows: [why: string, job: Parameters<typeof objectsOf>[0], want: string | undefined][] = [
    ["it is not recorded", {}, undefined],
    ["nothing", { objects: {} }, "none"],
    ["something of each", { objects: { created: 1, changed: 12, deleted: 3 } }, "1 created, 12 changed, 3 deleted"],
    ["only what there is", { objects: { deleted: 1 } }, "1 deleted"],
  ];
  for (const [why, job, want] of rows) assert.equal(objectsOf(job), want, why);
});
