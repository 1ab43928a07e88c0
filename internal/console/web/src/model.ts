// What the server sends. internal/console says what each field means.

export type State = "Ready" | "Running" | "Waiting" | "Failed" | "Stalled" | "Missing";

/** The states, those that need attention first. */
export const states: State[] = ["Failed", "Stalled", "Missing", "Waiting", "Running", "Ready"];

export interface Thing {
  kind: string;
  namespace: string;
  name: string;
  title: string;
  state: State;
  standing?: string;
  since?: string;
  page: string;
}

export interface Frame {
  where: string;
  scope?: string;
  limited?: boolean;
  notes?: string[];
}

/** What an overview is of. */
export function scopeOf(view: Frame): string {
  if (view.scope) return `Namespace ${view.scope}`;
  return view.limited ? "Your namespaces" : "All namespaces";
}

export interface Row extends Thing {
  component?: string;
  version?: string;
  why?: string;
  found?: string;
}

export interface Overview extends Frame {
  counts: Partial<Record<State, number>>;
  rows: Row[];
  more?: number;
}

export interface Hop extends Thing {
  why?: string;
  beside?: boolean;
}

export interface Branch extends Thing {
  target?: string;
  why?: string;
  warnings?: string;
  children?: Branch[];
}

export interface Unit {
  name: string;
  title: string;
  phase?: string;
  state: State;
  why?: string;
  targets?: string[];
  inside?: Scope;
}

export interface FlowValue {
  kind: string;
  name: string;
  exporters?: string[];
  importers?: string[];
}

export interface Scope {
  units: Unit[];
  values?: FlowValue[];
}

export interface Origin {
  kind: string;
  name: string;
  fingerprint?: string;
  by?: Thing[];
  from?: Thing;
}

export interface Value {
  name: string;
  type: string;
  objects: Origin[];
}

export interface Item extends Thing {
  type: string;
  target?: string;
  error?: string;
  operation?: string;
  codes?: string[];
  errorTime?: string;
}

export interface Job {
  of?: Thing;
  cause?: string;
  jobID: string;
  trigger?: string;
  requestedBy?: string;
  overridden?: { policy: string; by?: string };
  phase?: string;
  reason?: string;
  generation?: number;
  component?: string;
  importsHash?: string;
  objects?: { created?: number; changed?: number; deleted?: number };
  start?: string;
  queued?: string;
  preparing?: string;
  running?: string;
}

export interface Happening {
  time: string;
  kind: string;
  namespace: string;
  name: string;
  type: string;
  reason?: string;
  message?: string;
  count?: number;
}

export interface Page extends Frame, Row {
  missing?: boolean;
  above?: Thing[];
  ways?: Hop[][];
  planWait?: string;
  planAhead?: boolean;
  tree?: Branch;
  flow?: Scope;
  imports?: Value[];
  exports?: Value[];
  items?: Item[];
  jobs?: Job[];
  timeline?: Timeline;
  events?: Happening[];
}

export interface Span {
  kind: "queued" | "waits" | "works" | "below";
  from: string;
  to?: string;
}

export interface Bar extends Thing {
  depth?: number;
  spans: Span[];
  critical?: boolean;
}

export interface Timeline {
  start: string;
  end?: string;
  bars: Bar[];
  more?: number;
}

export interface Jobs extends Frame {
  jobs: Job[];
  more?: number;
}

/** What a part did in a job. */
export interface Outcome extends Job {
  took?: string;
}

export interface ComparedPart extends Thing {
  earlier?: Outcome;
  later?: Outcome;
  differs?: ("phase" | "reason" | "generation" | "component" | "imports")[];
}

export interface Comparison extends Frame, Thing {
  missing?: boolean;
  above?: Thing[];
  jobs?: Job[];
  earlier?: Job;
  later?: Job;
  imports?: { name: string; earlier?: string; later?: string }[];
  parts?: ComparedPart[];
  more?: number;
}

export interface Step extends Hop {
  values?: string[];
  reason?: string;
  meaning?: string;
  remedy?: string;
  operation?: string;
  codes?: string[];
  errorTime?: string;
  target?: TargetLine;
}

export interface Why extends Frame, Thing {
  missing?: boolean;
  above?: Thing[];
  ways?: Step[][];
  more?: number;
  works?: Thing[];
}

export interface TargetLine {
  namespace: string;
  name: string;
  missing?: boolean;
  state?: State;
  reachedAt?: string;
  by?: Thing;
  why?: string;
  sync?: string;
  shoot?: string;
  exporter?: Thing;
  issued?: string;
  written?: string;
  inSecret?: boolean;
  fingerprint?: string;
  items?: Partial<Record<State, number>>;
}

export interface Sync {
  namespace: string;
  name: string;
  state: State;
  why?: string;
  source: string;
  reachable?: boolean;
  reachableSince?: string;
  rotates?: boolean;
  rotated?: string;
  success?: string;
  synced: number;
  skipped: number;
  failed: number;
  items?: { name: string; state: "Failed" | "Skipped"; message?: string }[];
}

export interface Targets extends Frame {
  syncs?: Sync[];
  targets: TargetLine[];
  more?: number;
}

export interface Target extends Frame, TargetLine {
  used?: Item[];
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface ObjectPage extends Frame, Thing {
  missing?: boolean;
  why?: string;
  above?: Thing[];
  conditions?: Condition[];
  errors?: string[];
  yaml?: string;
  cut?: boolean;
  partial?: boolean;
  events?: Happening[];
}

/** The address of the page that has an object. */
export function addressOf(thing: Thing): string {
  const page = pageAddress(thing.namespace, thing.page);
  return thing.kind === "DeployItem" ? `${page}#item-${encodeURIComponent(thing.name)}` : page;
}

export function pageAddress(namespace: string, name: string): string {
  return address("n", namespace, name);
}

export function whyAddress(thing: Thing): string {
  return address("why", thing.kind, thing.namespace, thing.name);
}

/** The address of the page with the YAML and the events of an object. */
export function objectAddress(kind: string, namespace: string, name: string): string {
  return address("objects", kind, namespace, name);
}

export function targetAddress(namespace: string, name: string): string {
  return address("targets", namespace, name);
}

/** The address of the comparison of two jobs; without the second one, with the job before. */
export function compareAddress(namespace: string, name: string, one?: string, other?: string): string {
  const jobs = new URLSearchParams();
  if (one) jobs.set("one", one);
  if (other) jobs.set("other", other);
  return address("compare", namespace, name) + (one ? `?${jobs}` : "");
}

/** The address of a list of which those are shown that have a text. */
export function searchAddress(path: string, text: string): string {
  return text ? `${path}?q=${encodeURIComponent(text)}` : path;
}

function address(...parts: string[]): string {
  return "/" + parts.map(encodeURIComponent).join("/");
}
