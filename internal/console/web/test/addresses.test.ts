import assert from "node:assert/strict";
import { test } from "node:test";
import { choiceOf, withChoice } from "../src/flow";
import { addressOf, compareAddress, objectAddress, pageAddress, searchAddress, targetAddress, whyAddress } from "../src/model";
import { liveAddress, pageOf, searched, stays, type Click } from "../src/pages";
import { linkTo } from "../src/parts";
import { thing } from "./things";

const at = (address: string) => new URL(address, "https://console.example.org");

test("addresses that views make", () => {
  const item = thing({ kind: "DeployItem", name: "web-x7k2p", page: "web" });
  const execution = thing({ kind: "Execution", name: "web" });
  const rows: [why: string, got: string, want: string][] = [
    ["an Installation has a page", addressOf(thing()), "/n/shop/web"],
    ["a part is shown on the page that has it", addressOf(thing({ kind: "Installation", name: "part-abcde", page: "part-abcde" })), "/n/shop/part-abcde"],
    ["an item is a place on the page of its Installation", addressOf(item), "/n/shop/web#item-web-x7k2p"],
    ["its name leads there, too", linkTo(item), "/n/shop/web#item-web-x7k2p"],
    ["an Execution has no place on a page, only its YAML", linkTo(execution), "/objects/Execution/shop/web"],
    ["why something waits is asked of each kind", whyAddress(item), "/why/DeployItem/shop/web-x7k2p"],
    ["an object", objectAddress("TargetSync", "shop", "shoots"), "/objects/TargetSync/shop/shoots"],
    ["a Target", targetAddress("shop", "eu-1"), "/targets/shop/eu-1"],
    ["a name cannot lead to another page", pageAddress("shop", "../../jobs"), "/n/shop/..%2F..%2Fjobs"],
    ["nor to another host", pageAddress("", "/evil.example"), "/n//%2Fevil.example"],
    ["nor end the path", pageAddress("shop", "a?q=b#c"), "/n/shop/a%3Fq%3Db%23c"],
    ["a percent sign is no escape", objectAddress("Target", "shop", "a%2Fb"), "/objects/Target/shop/a%252Fb"],
    ["the name of an item cannot, either", addressOf(thing({ kind: "DeployItem", name: "a b#c" })), "/n/shop/web#item-a%20b%23c"],
    ["two jobs", compareAddress("shop", "web", "1", "2"), "/compare/shop/web?one=1&other=2"],
    ["a job and the one before", compareAddress("shop", "web", "1"), "/compare/shop/web?one=1"],
    ["no job is chosen", compareAddress("shop", "web"), "/compare/shop/web"],
    ["a job's name is text", compareAddress("shop", "web", "a&other=b"), "/compare/shop/web?one=a%26other%3Db"],
    ["what is searched", searchAddress("/jobs", "shop/"), "/jobs?q=shop%2F"],
    ["what is searched is text", searchAddress("/", "a&b=c d#e+f"), "/?q=a%26b%3Dc%20d%23e%2Bf"],
    ["nothing is searched: the address is short", searchAddress("/targets", ""), "/targets"],
  ];
  for (const [why, got, want] of rows) assert.equal(got, want, why);
});

test("what is searched comes back from the address", () => {
  for (const text of ["web", "a&b=c", "50 %", "a+b", "größe", "“quoted”", "#1?", "\u05d0"]) assert.equal(searched(at(searchAddress("/", text))), text);
});

test("where the view of an address comes from", () => {
  const rows: [why: string, address: string, want: string][] = [
    ["the first page", "/", "/live/overview?q="],
    ["a search of it", "/?q=a%26b", "/live/overview?q=a%26b"],
    ["an address that is not known shows the first page", "/nonsense", "/live/overview?q="],
    ["an Installation", "/n/shop/web", "/live/n/shop/web"],
    ["how its graph is drawn is nothing to the server", "/n/shop/web?open=a&zoom=2", "/live/n/shop/web"],
    ["a plan is shown with its Installation", "/plan/shop/web", "/live/n/shop/web"],
    ["only the beginning says that it is a plan", "/n/plan/web", "/live/n/plan/web"],
    ["two jobs: the server has to know which", "/compare/shop/web?one=1&other=2", "/live/compare/shop/web?one=1&other=2"],
    ["why something waits", "/why/DeployItem/shop/x", "/live/why/DeployItem/shop/x"],
    ["all Targets", "/targets", "/live/targets"],
    ["some Targets", "/targets?q=eu", "/live/targets?q=eu"],
    ["jobs", "/jobs?q=shop%2F", "/live/jobs?q=shop%2F"],
    ["what is escaped stays escaped", "/n/shop/a%2Fb", "/live/n/shop/a%2Fb"],
  ];
  for (const [why, address, want] of rows) assert.equal(liveAddress(at(address)), want, why);
});

test("titles of pages, which tabs and bookmarks show", () => {
  const rows: [why: string, address: string, view: object, want: string][] = [
    ["a tab says how an Installation stands", "/n/shop/web", { name: "web", state: "Failed" }, "web: Failed"],
    ["it was deleted", "/n/shop/web", { name: "web", missing: true }, "web: missing"],
    ["one Target is not the list of all", "/targets/shop/eu-1", { name: "eu-1" }, "Target eu-1"],
    ["all Targets", "/targets", {}, "Targets"],
    ["two jobs", "/compare/shop/web", { name: "web" }, "Two jobs of web"],
    ["a plan", "/plan/shop/web", { name: "web" }, "Plan of web"],
    ["an object", "/objects/Target/shop/eu-1", { kind: "Target", name: "eu-1" }, "Target eu-1"],
    ["the first page", "/", {}, "Landscaper"],
  ];
  for (const [why, address, view, want] of rows) assert.equal(pageOf(at(address)).title(view), want, why);
});

test("clicks that show a page without loading a document", () => {
  const plain: Click = { defaultPrevented: false, button: 0, metaKey: false, ctrlKey: false, shiftKey: false, altKey: false };
  const rows: [why: string, href: string | null | undefined, click: Partial<Click>, want: boolean][] = [
    ["a link of the console", "/n/shop/web", {}, true],
    ["no link was clicked", undefined, {}, false],
    ["a link without an address", null, {}, false],
    ["a place on this page is the browser's", "#content", {}, false],
    ["another site", "https://example.org/", {}, false],
    ["a button on the link has dealt with it", "/n/shop/web", { defaultPrevented: true }, false],
    ["the middle button opens a tab", "/n/shop/web", { button: 1 }, false],
    ["so does Ctrl", "/n/shop/web", { ctrlKey: true }, false],
    ["so does Command", "/n/shop/web", { metaKey: true }, false],
    ["Shift opens a window", "/n/shop/web", { shiftKey: true }, false],
    ["Alt keeps the link as a file", "/n/shop/web", { altKey: true }, false],
  ];
  for (const [why, href, click, want] of rows) assert.equal(stays(href, { ...plain, ...click }), want, why);
});

test("how the graph is drawn, by its address", () => {
  const rows: [why: string, address: string, open: string[], borders: boolean, zoom: number][] = [
    ["nothing is chosen", "/n/shop/web", [], true, 1],
    ["two are open", "/n/shop/web?open=a,b", ["a", "b"], true, 1],
    ["empty names open nothing", "/n/shop/web?open=,a,,", ["a"], true, 1],
    ["no borders", "/n/shop/web?borders=no", [], false, 1],
    ["a size", "/n/shop/web?zoom=0.5", [], true, 0.5],
    ["a size that would freeze the browser", "/n/shop/web?zoom=1e9", [], true, 1],
    ["a size at which nothing is seen", "/n/shop/web?zoom=0.001", [], true, 1],
    ["no number", "/n/shop/web?zoom=large", [], true, 1],
    ["a picture has no negative size", "/n/shop/web?zoom=-1", [], true, 1],
  ];
  for (const [why, address, open, borders, zoom] of rows) {
    const choice = choiceOf(at(address));
    assert.deepEqual([[...choice.open], choice.borders, choice.zoom], [open, borders, zoom], why);
  }
});

test("another choice leaves the rest of an address as it is", () => {
  const rows: [why: string, from: string, name: string, value: string, want: string][] = [
    ["the first choice", "/n/shop/web", "zoom", "2", "/n/shop/web?zoom=2"],
    ["a further one", "/n/shop/web?zoom=2", "borders", "no", "/n/shop/web?zoom=2&borders=no"],
    ["another value", "/n/shop/web?zoom=2", "zoom", "0.5", "/n/shop/web?zoom=0.5"],
    ["the last one is taken back: the address is short again", "/n/shop/web?zoom=2", "zoom", "", "/n/shop/web"],
    ["the place on the page stays", "/n/shop/web#flow", "open", "a", "/n/shop/web?open=a#flow"],
  ];
  for (const [why, from, name, value, want] of rows) assert.equal(withChoice(at(from), name, value), want, why);
  assert.deepEqual([...choiceOf(at(withChoice(at("/n/shop/web"), "open", "a,b"))).open], ["a", "b"], "what was chosen is read again");
});
