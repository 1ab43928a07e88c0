import type { ComponentChildren } from "preact";
import { useClock } from "./live";
import { addressOf, objectAddress, scopeOf, type Frame, type Happening, type State, type Thing } from "./model";

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
  return (
    <time dateTime={time} title={clockTime(time)}>
      {ago(now - Date.parse(time))}
    </time>
  );
}

/** A time in the zone of the reader. */
export function clockTime(time: string): string {
  return new Date(time).toLocaleString();
}

/** How long ago something was. The clock of the server may be ahead of that of the reader. */
export function ago(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 20) return "just now";
  if (seconds < 90) return `${Math.floor(seconds / 10) * 10} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

/** Where the name of a thing leads. An Execution has no place on a page. */
export function linkTo(thing: Thing): string {
  return thing.kind === "Execution" ? objectAddress(thing.kind, thing.namespace, thing.name) : addressOf(thing);
}

export function To({ thing, children }: { thing: Thing; children?: ComponentChildren }) {
  return <a href={linkTo(thing)}>{children ?? thing.title}</a>;
}

/** A span of time, such as 1 min 5 s. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
}

export function Message({ text }: { text?: string }) {
  return text ? <div class="message">{text}</div> : null;
}

export function Section({ id, title, count, aside, children }: { id: string; title: string; count?: number; aside?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section aria-labelledby={id}>
      <div class="heading">
        <h2 id={id} tabIndex={-1}>
          {title}
          {count !== undefined && <span class="count">{count}</span>}
        </h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** The way from the first page to an object. */
export function Above({ frame, namespace, above }: { frame: Frame; namespace: string; above?: Thing[] }) {
  return (
    <nav class="above" aria-label="Part of">
      <a href="/">{scopeOf(frame)}</a>
      <span>{namespace}</span>
      {above?.map((thing) => <To key={thing.kind + thing.name} thing={thing}>{thing.kind === "Execution" ? "Execution" : thing.title}</To>)}
    </nav>
  );
}

export function Table({ heads, children }: { heads: string[]; children: ComponentChildren }) {
  return (
    <table>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** A cell with its head, which stands before it on a phone. */
export function Cell({ head, wide, children }: { head: string; wide?: boolean; children?: ComponentChildren }) {
  return (
    <td data-head={head} class={wide ? "wide" : ""}>
      <div>{children}</div>
    </td>
  );
}

export function Events({ events }: { events?: Happening[] }) {
  if (!events?.length) return null;
  return (
    <Section id="events" title="Events" count={events.length}>
      <Table heads={["When", "Object", "What"]}>
        {events.map((event, at) => (
          <tr key={at}>
            <Cell head="When">
              <Since time={event.time} />
            </Cell>
            <Cell head="Object">
              <span class="quiet">{event.kind}</span> <a href={objectAddress(event.kind, event.namespace, event.name)}>{event.name}</a>
            </Cell>
            <Cell head="What" wide>
              <span class={event.type === "Warning" ? "warning" : "quiet"}>
                {event.type === "Warning" && "Warning · "}
                {event.reason}
                {event.count ? ` (${event.count} times)` : ""}
              </span>
              <Message text={event.message} />
            </Cell>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
