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
  jobID: string;
  trigger?: string;
  phase?: string;
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
  tree?: Branch;
  flow?: Scope;
  imports?: Value[];
  exports?: Value[];
  items?: Item[];
  jobs?: Job[];
  events?: Happening[];
}

/** The address of the page that has an object. */
export function addressOf(thing: Thing): string {
  const page = pageAddress(thing.namespace, thing.page);
  return thing.kind === "DeployItem" ? `${page}#item-${encodeURIComponent(thing.name)}` : page;
}

export function pageAddress(namespace: string, name: string): string {
  return `/n/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}
