import { useClock } from "./live";
import { Mark, Section, span, To } from "./parts";
import type { Bar, Span, Timeline } from "./model";

const words: Record<Span["kind"], string> = {
  queued: "not picked up",
  waits: "waits for others",
  works: "at work",
  below: "objects below work",
};

/** Steps between the marks of the axis, in seconds. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400, 172_800, 604_800];

export function TimelineSection({ timeline }: { timeline: Timeline }) {
  const now = useClock(timeline.end ? 60_000 : 1_000);
  const { start, last, length } = extent(timeline, now);
  const kinds = (Object.keys(words) as Span["kind"][]).filter((kind) => timeline.bars.some((bar) => bar.spans.some((part) => part.kind === kind)));
  return (
    <Section id="timeline" title="Timeline" aside={<span class="quiet">{timeline.end ? `the last job took ${span(last - start)}` : `the job runs for ${span(last - start)}`}</span>}>
      <ul class="legend" aria-label="Colours">
        {kinds.map((kind) => (
          <li key={kind}>
            <svg class="swatch" aria-hidden="true">
              <Block kind={kind} x="0" width="100%" />
            </svg>
            {words[kind]}
          </li>
        ))}
        <li>
          <svg class="swatch" aria-hidden="true">
            <rect class="critical" y="14" width="100%" height="3" />
          </svg>
          critical path
        </li>
      </ul>
      <ol class="timeline">
        <li class="axis" aria-hidden="true">
          <span />
          <Axis length={length} />
          <span />
        </li>
        {timeline.bars.map((bar) => (
          <Line key={bar.kind + bar.name} bar={bar} start={start} length={length} now={last} />
        ))}
      </ol>
      {timeline.more && <p class="hint">{timeline.more} more objects of the job are not shown. All that are on the critical path are.</p>}
    </Section>
  );
}

/** From when to when a timeline reaches, in milliseconds. What has no end lasts until that of the job, or until now. */
export function extent(timeline: Timeline, now: number): { start: number; last: number; length: number } {
  const start = Date.parse(timeline.start);
  const end = timeline.end ? Date.parse(timeline.end) : now;
  const last = Math.max(...timeline.bars.flatMap((bar) => bar.spans.map((part) => (part.to ? Date.parse(part.to) : end))));
  return { start, last, length: Math.max(1000, last - start) };
}

/** Where the axis has marks, in milliseconds from the start: few, and none at the right edge, where its text has no room. */
export function marksOf(length: number): number[] {
  const step = steps.find((seconds) => length / 1000 / seconds <= 5) ?? length / 4000;
  const marks: number[] = [];
  for (let at = 0; at <= length * 0.94; at += step * 1000) marks.push(at);
  return marks;
}

function Axis({ length }: { length: number }) {
  return (
    <svg class="bar" height="20">
      {marksOf(length).map((at) => (
        <g key={at}>
          <line class="tick" x1={percent(at / length)} x2={percent(at / length)} y1="14" y2="20" />
          <text x={percent(at / length)} y="10">
            {at === 0 ? "start" : span(at)}
          </text>
        </g>
      ))}
    </svg>
  );
}

interface Measured extends Span {
  open: boolean;
  /** Where it begins and how much it is of the whole timeline. */
  at: number;
  share: number;
  took: number;
}

/** The spans of a bar with their places. */
export function measured(bar: Bar, start: number, length: number, now: number): Measured[] {
  return bar.spans.map((part) => {
    const from = Date.parse(part.from);
    const to = part.to ? Date.parse(part.to) : now;
    return { ...part, open: !part.to, at: (from - start) / length, share: (to - from) / length, took: to - from };
  });
}

/** A bar for those who do not see it. */
export function inWords(parts: Measured[]): string {
  return parts.map((part) => `${words[part.kind]} ${span(part.took)}${part.open ? " until now" : ""}`).join(", ");
}

function Line({ bar, start, length, now }: { bar: Bar; start: number; length: number; now: number }) {
  const parts = measured(bar, start, length, now);
  const took = parts.reduce((sum, part) => sum + part.took, 0);
  const name = bar.kind === "Execution" ? "Execution" : bar.title;
  const said = inWords(parts);
  return (
    <li class={bar.state}>
      <span class="label" style={{ paddingLeft: `${Math.min(bar.depth ?? 0, 8) * 0.9}rem` }} title={`${bar.kind} ${bar.name}`}>
        <Mark state={bar.state} /> <To thing={bar}>{name}</To>
      </span>
      <svg class="bar" height="20" role="img" aria-label={`${said}${bar.critical ? "; on the critical path" : ""}`}>
        <title>{said}</title>
        {/* A span that was too short to be measured can be seen, too. */}
        {parts.map((part) => (
          <Block key={part.kind + part.from} kind={part.kind} x={percent(part.at)} width={percent(Math.max(part.share, 0.004))} />
        ))}
        {bar.critical && parts.map((part) => <rect key={part.kind + part.from} class="critical" x={percent(part.at)} y="16" width={percent(part.share)} height="3" />)}
      </svg>
      <span class="took quiet">{span(took)}</span>
    </li>
  );
}

function Block({ kind, x, width }: { kind: Span["kind"]; x: string; width: string }) {
  const thin = kind === "below";
  return <rect class={`span ${kind}`} x={x} y={thin ? 6 : 2} width={width} height={thin ? 4 : 12} rx="2" />;
}

/** A share in percent. */
export function percent(share: number): string {
  return `${Math.min(100, Math.max(0, share * 100)).toFixed(3)}%`;
}
