import type { ComponentChildren } from "preact";
import { useClock } from "./live";
import { addressOf, type State, type Thing } from "./model";

// A shape for each state: colours alone would not be enough.
const shapes: Record<State, string> = {
  Ready: "M3 8.5 6.5 12 13 4.5",
  Running: "M5 3.5v9l7.5-4.5z",
  Waiting: "M5.5 3.5v9M10.5 3.5v9",
  Failed: "M4 4l8 8M12 4l-8 8",
  Stalled: "M4 4h8v8H4z",
  Missing: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.8-1.1 1.6M8 12.4v.1",
};

export function Mark({ state }: { state: State }) {
  return (
    <svg class={`mark ${state}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[state]} />
    </svg>
  );
}

export function Badge({ state }: { state: State }) {
  return (
    <span class={`badge ${state}`}>
      <Mark state={state} />
      {state}
    </span>
  );
}

export function Since({ time }: { time?: string }) {
  const now = useClock();
  if (!time) return null;
  const at = new Date(time);
  return (
    <time dateTime={time} title={at.toLocaleString()}>
      {ago(now - at.getTime())}
    </time>
  );
}

function ago(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 20) return "just now";
  if (seconds < 90) return `${Math.floor(seconds / 10) * 10} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

export function To({ thing, children }: { thing: Thing; children?: ComponentChildren }) {
  return <a href={addressOf(thing)}>{children ?? thing.title}</a>;
}

export function Message({ text }: { text?: string }) {
  return text ? <div class="message">{text}</div> : null;
}

export function Section({ id, title, count, children }: { id: string; title: string; count?: number; children: ComponentChildren }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title}
        {count !== undefined && <span class="count">{count}</span>}
      </h2>
      {children}
    </section>
  );
}
