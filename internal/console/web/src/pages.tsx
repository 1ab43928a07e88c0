import type { ComponentChild } from "preact";
import { ComparePage } from "./compare";
import { JobsPage } from "./jobs";
import type { Comparison, Jobs, ObjectPage, Overview, Page, Target, Targets, Why } from "./model";
import { ObjectView } from "./object";
import { OverviewPage } from "./overview";
import { InstallationPage } from "./page";
import { PlanPage } from "./plan";
import { TargetPage, TargetsPage } from "./targets";
import { WhyPage } from "./why";

interface Place {
  begins: string;
  title: (view: any) => string;
  draw: (view: any, text: string) => ComponentChild;
}

/** The pages by the beginning of their addresses, the longer ones first. Those that take a text get it from the address. */
const pages: Place[] = [
  { begins: "/n/", title: (view: Page) => `${view.name}: ${view.state ?? "missing"}`, draw: (view: Page) => <InstallationPage view={view} /> },
  { begins: "/plan/", title: (view: Page) => `Plan of ${view.name}`, draw: (view: Page) => <PlanPage view={view} /> },
  { begins: "/compare/", title: (view: Comparison) => `Two jobs of ${view.name}`, draw: (view: Comparison) => <ComparePage view={view} /> },
  { begins: "/why/", title: (view: Why) => `Why ${view.name}`, draw: (view: Why) => <WhyPage view={view} /> },
  { begins: "/objects/", title: (view: ObjectPage) => `${view.kind} ${view.name}`, draw: (view: ObjectPage) => <ObjectView view={view} /> },
  { begins: "/targets/", title: (view: Target) => `Target ${view.name}`, draw: (view: Target) => <TargetPage view={view} /> },
  { begins: "/targets", title: () => "Targets", draw: (view: Targets, text) => <TargetsPage view={view} text={text} /> },
  { begins: "/jobs", title: () => "Jobs", draw: (view: Jobs, text) => <JobsPage view={view} text={text} /> },
  { begins: "/", title: () => "Landscaper", draw: (view: Overview, text) => <OverviewPage view={view} text={text} /> },
];

/** The page that an address leads to. */
export function pageOf(url: URL): Place {
  return pages.find(({ begins }) => url.pathname.startsWith(begins))!;
}

/** The text that an address searches for. */
export function searched(url: URL): string {
  return url.searchParams.get("q") ?? "";
}

/** Where the view of an address comes from. */
export function liveAddress(url: URL): string {
  const text = searched(url);
  const { begins } = pageOf(url);
  if (begins === "/") return `/live/overview?q=${encodeURIComponent(text)}`;
  // The page of a plan shows an Installation, and asks for its plan itself.
  const path = `/live${url.pathname.replace(/^\/plan\//, "/n/")}`;
  if (begins === "/compare/") return path + url.search;
  return text ? `${path}?q=${encodeURIComponent(text)}` : path;
}

export type Click = Pick<MouseEvent, "defaultPrevented" | "button" | "metaKey" | "ctrlKey" | "shiftKey" | "altKey">;

/** Whether a click shows another page of the console without loading a document. Another key or button opens a tab, or keeps the link. */
export function stays(href: string | null | undefined, click: Click): href is string {
  const other = click.defaultPrevented || click.button !== 0 || click.metaKey || click.ctrlKey || click.shiftKey || click.altKey;
  return Boolean(href?.startsWith("/")) && !other;
}
