import { useContext, useRef } from "preact/hooks";
import { Address } from "./filter";
import { Mark, Section } from "./parts";
import { pageAddress, type FlowValue, type Scope, type Unit } from "./model";

// Sizes in the units of the picture.
const unitHeight = 52;
const chipHeight = 28;
const lineHeight = 4;
const columnGap = 46;
const rowGap = 16;
const character = 7.4;
// Titles are bold.
const boldCharacter = 8.8;
const longest = 26;
// The space around what is inside of an open Installation, and around a group of one Target.
const inset = 14;
const bandHead = 26;
const bandGap = 18;

/** Something with a place: an Installation, a value, or the space that a line needs to pass others. */
export interface Block {
  unit?: Unit;
  value?: FlowValue;
  /** What is inside, of an Installation that is open. */
  inside?: Picture;
  /** The Target of the group, if all items of the Installation deploy to one. */
  lane: string;
  column: number;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** A line from the first block to the last, past others through the spaces between. */
export type Edge = Block[];

/** A group of Installations that deploy to one Target. */
interface Band {
  name: string;
  y: number;
  h: number;
}

interface Picture {
  blocks: Block[];
  edges: Edge[];
  bands: Band[];
  w: number;
  h: number;
}

export function short(text: string): string {
  return text.length > longest ? text.slice(0, longest - 1) + "…" : text;
}

/** What of a picture can be chosen. */
interface Choice {
  open: Set<string>;
  /** Whether Installations are grouped by the Targets to which they deploy. */
  borders: boolean;
}

/** Finds a place for everything: values flow from left to right. */
export function arrange(scope: Scope, choice: Choice): Picture {
  const blocks: Block[] = [];
  const edges: Edge[] = [];
  const units = new Map<string, Block>();
  const grouped = choice.borders && severalTargets(scope);
  for (const unit of scope.units) {
    const width = Math.max(120, Math.max(short(unit.title).length * boldCharacter, (short(lineOf(unit)).length + 3) * character) + (unit.inside ? 60 : 32));
    const block: Block = { unit, lane: grouped ? laneOf(unit) : "", column: 0, x: 0, y: 0, w: width, h: unitHeight };
    if (unit.inside && choice.open.has(unit.name)) {
      block.inside = arrange(unit.inside, choice);
      block.w = Math.max(width, block.inside.w + 2 * inset);
      block.h = unitHeight + block.inside.h + inset;
    }
    units.set(unit.name, block);
    blocks.push(block);
  }
  for (const value of scope.values ?? []) {
    const near = [...(value.exporters ?? []), ...(value.importers ?? [])].map((name) => units.get(name)?.lane ?? "");
    const lane = value.exporters?.length || near.every((other) => other === near[0]) ? (near[0] ?? "") : "";
    const block = { value, lane, column: 0, x: 0, y: 0, w: short(value.name).length * character + 32, h: chipHeight };
    blocks.push(block);
    for (const name of value.exporters ?? []) {
      const unit = units.get(name);
      if (unit) edges.push([unit, block]);
    }
    for (const name of value.importers ?? []) {
      const unit = units.get(name);
      if (unit) edges.push([block, unit]);
    }
  }
  chooseColumns(blocks, edges);
  bend(blocks, edges);
  return { blocks, edges, ...place(blocks, edges) };
}

function laneOf(unit: Unit): string {
  return unit.targets?.length === 1 ? unit.targets[0] : "";
}

function severalTargets(scope: Scope): boolean {
  return new Set(scope.units.flatMap((unit) => unit.targets ?? [])).size > 1;
}

/** Whether the borders of Targets say something, here or inside of what is open. */
export function hasBorders(scope: Scope, open: Set<string>): boolean {
  return severalTargets(scope) || scope.units.some((unit) => unit.inside && open.has(unit.name) && hasBorders(unit.inside, open));
}

/** Puts every block to the right of what it needs. A cycle ends, since no column is behind the last. */
function chooseColumns(blocks: Block[], edges: Edge[]) {
  for (let round = 0; round < blocks.length; round++) {
    let moved = false;
    for (const [from, to] of edges) {
      if (to.column <= from.column && from.column + 1 < blocks.length) {
        to.column = from.column + 1;
        moved = true;
      }
    }
    if (!moved) break;
  }
  // A value from outside stands next to who needs it.
  for (const block of blocks) {
    if (block.value && !block.value.exporters?.length) {
      const needs = edges.filter(([from]) => from === block).map(([, to]) => to.column);
      block.column = Math.max(0, Math.min(...needs) - 1);
    }
  }
}

/** Gives lines that pass a column space in it. */
function bend(blocks: Block[], edges: Edge[]) {
  for (const edge of edges) {
    const [from, to] = edge;
    for (let column = from.column + 1; column < to.column; column++) {
      const space = { lane: from.lane === to.lane ? from.lane : "", column, x: 0, y: 0, w: 0, h: lineHeight };
      blocks.push(space);
      edge.splice(-1, 0, space);
    }
  }
}

/** Gives each block its place: columns from left to right, and in them the groups of Targets one below the other. */
function place(blocks: Block[], edges: Edge[]): { w: number; h: number; bands: Band[] } {
  const columns: Block[][] = [];
  for (const block of blocks) (columns[block.column] ??= []).push(block);
  const filled = columns.filter(Boolean);
  // What belongs to no single Target stands above all groups.
  const lanes = [...new Set(blocks.map((block) => block.lane))].sort((a, b) => (a === "" ? -1 : b === "" ? 1 : a < b ? -1 : 1));
  const bands: Band[] = [];
  const left = lanes.some(Boolean) ? inset : 0;
  let top = 0;
  let width = 0;
  for (const lane of lanes) {
    if (lane) top += bandHead;
    let x = left;
    let height = 0;
    for (const column of filled) {
      const mine = column.filter((block) => block.lane === lane);
      // Each block is near the middle of what leads to it.
      const wanted = new Map(mine.map((block, at) => [block, middle(block, edges) ?? at * (unitHeight + rowGap)]));
      mine.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
      let y = top;
      for (const block of mine) {
        block.x = x;
        block.y = y;
        y += block.h + rowGap;
      }
      height = Math.max(height, y - rowGap - top);
      const widest = Math.max(...column.map((block) => block.w));
      for (const block of mine) if (isSpace(block)) block.w = widest;
      x += widest + columnGap;
    }
    for (const column of filled) {
      const mine = column.filter((block) => block.lane === lane);
      const last = mine[mine.length - 1];
      const shift = last ? (height + top - last.y - last.h) / 2 : 0;
      for (const block of mine) block.y += shift;
    }
    width = Math.max(width, x - columnGap + left);
    if (lane) bands.push({ name: lane, y: top - bandHead, h: height + bandHead + inset });
    top += height + (lane ? inset : 0) + bandGap;
  }
  return { w: Math.max(0, width), h: Math.max(0, top - bandGap), bands };
}

function middle(block: Block, edges: Edge[]): number | undefined {
  const before = edges.map((edge) => edge[edge.indexOf(block) - 1]).filter((neighbour) => neighbour && neighbour.column < block.column);
  if (before.length === 0) return undefined;
  return before.reduce((sum, neighbour) => sum + neighbour.y + neighbour.h / 2, 0) / before.length;
}

function isSpace(block: Block): boolean {
  return !block.unit && !block.value;
}

function lineOf(unit: Unit): string {
  const inside = unit.inside ? ` · ${unit.inside.units.length} inside` : "";
  return (unit.phase || "no job yet") + inside;
}

/** How large the picture can be shown. */
const sizes = [0.25, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2];

/** What an address chooses, whoever has written it. */
export function choiceOf(url: URL): Choice & { zoom: number } {
  const zoom = Number(url.searchParams.get("zoom"));
  return {
    open: new Set((url.searchParams.get("open") ?? "").split(",").filter(Boolean)),
    borders: url.searchParams.get("borders") !== "no",
    zoom: zoom >= 0.1 && zoom <= 4 ? zoom : 1,
  };
}

/** The address with another choice; without it, if it has no value. */
export function withChoice(url: URL, name: string, value: string): string {
  const next = new URL(url);
  if (value) next.searchParams.set(name, value);
  else next.searchParams.delete(name);
  return next.pathname + next.search + next.hash;
}

/** Draws how values flow. Each Installation is a link to its page. What is chosen is in the address. */
export function Flow({ scope, namespace }: { scope: Scope; namespace: string }) {
  const { url, go } = useContext(Address);
  const frame = useRef<HTMLDivElement>(null);
  const { open, borders, zoom } = choiceOf(url);
  const choose = (name: string, value: string) => go(withChoice(url, name, value), true);
  const toggle = (name: string) => {
    const next = new Set(open);
    if (!next.delete(name)) next.add(name);
    choose("open", [...next].join(","));
  };
  const picture = arrange(scope, { open, borders });
  const margin = 4;
  const width = picture.w + 2 * margin;
  const height = picture.h + 2 * margin;
  const resize = (to: number) => choose("zoom", to === 1 ? "" : String(Math.round(to * 100) / 100));
  const larger = sizes.find((size) => size > zoom + 0.01);
  const smaller = sizes.findLast((size) => size < zoom - 0.01);
  const inner = namesInside(scope);
  const controls = (
    <div class="controls" role="group" aria-label="The picture">
      {inner.length > 0 && (
        <button type="button" aria-pressed={open.size > 0} onClick={() => choose("open", open.size > 0 ? "" : inner.join(","))}>
          {open.size > 0 ? "Close all" : "Open all"}
        </button>
      )}
      {hasBorders(scope, open) && (
        <button type="button" aria-pressed={borders} onClick={() => choose("borders", borders ? "no" : "")}>
          Targets
        </button>
      )}
      <button type="button" aria-label="Smaller" disabled={!smaller} onClick={() => resize(smaller!)}>
        −
      </button>
      <button type="button" aria-label={`Size ${Math.round(zoom * 100)} %, back to 100 %`} onClick={() => resize(1)}>
        {Math.round(zoom * 100)} %
      </button>
      <button type="button" aria-label="Larger" disabled={!larger} onClick={() => resize(larger!)}>
        +
      </button>
      <button type="button" onClick={() => resize(Math.min(1, Math.max(0.1, ((frame.current?.clientWidth ?? width) - 10) / width)))}>
        Fit
      </button>
    </div>
  );
  return (
    <Section id="flow" title="Data flow" aside={controls}>
      <div class="flow" ref={frame} tabIndex={0} role="group" aria-label="How values flow between the parts">
        <svg viewBox={`${-margin} ${-margin} ${width} ${height}`} width={width * zoom} height={height * zoom}>
          <Drawing picture={picture} namespace={namespace} toggle={toggle} />
        </svg>
      </div>
    </Section>
  );
}

/** The names of all Installations that can be opened. */
export function namesInside(scope: Scope): string[] {
  return scope.units.flatMap((unit) => (unit.inside ? [unit.name, ...namesInside(unit.inside)] : []));
}

function Drawing({ picture, namespace, toggle }: { picture: Picture; namespace: string; toggle: (name: string) => void }) {
  return (
    <>
      {picture.bands.map((band) => (
        <g key={band.name} class="band">
          <rect x="0.5" y={band.y} width={picture.w - 1} height={band.h} rx="10" />
        </g>
      ))}
      <g class="edges">
        {picture.edges.map((edge) => {
          const [from, to] = [edge[0], edge[edge.length - 1]];
          return <path key={keyOf(from) + keyOf(to)} class={(from.unit ?? to.unit)?.state} d={line(edge)} />;
        })}
      </g>
      {picture.bands.map((band) => (
        <g key={band.name} class="band">
          <text x={inset} y={band.y + 17}>
            Target {short(band.name)}
          </text>
        </g>
      ))}
      {picture.blocks
        .filter((block) => !isSpace(block))
        .map((block) => (block.unit ? <UnitBox key={keyOf(block)} block={block} unit={block.unit} namespace={namespace} toggle={toggle} /> : <Chip key={keyOf(block)} block={block} />))}
    </>
  );
}

function keyOf(block: Block): string {
  return block.unit ? `unit ${block.unit.name}` : `${block.value?.kind} ${block.value?.name}`;
}

export function line(edge: Edge): string {
  let path = "";
  for (let i = 1; i < edge.length; i++) {
    const [from, to] = [edge[i - 1], edge[i]];
    const x = from.x + from.w;
    const y = from.y + from.h / 2;
    const end = to.y + to.h / 2;
    const curve = Math.max(20, (to.x - x) / 2);
    path += `${path ? "L" : "M"}${x} ${y}C${x + curve} ${y} ${to.x - curve} ${end} ${to.x} ${end}`;
  }
  return path;
}

function UnitBox({ block, unit, namespace, toggle }: { block: Block; unit: Unit; namespace: string; toggle: (name: string) => void }) {
  const where = unit.targets?.length ? `, on ${unit.targets.join(", ")}` : "";
  return (
    <g class={`box ${unit.state} ${block.inside ? "open" : ""}`}>
      <a href={pageAddress(namespace, unit.name)} class={`unit ${unit.state}`}>
        <rect x={block.x} y={block.y} width={block.w} height={block.h} rx="8">
          <title>{`${unit.title}, ${unit.state}${where}${unit.why ? `: ${unit.why}` : ""}`}</title>
        </rect>
        <text class="title" x={block.x + 14} y={block.y + 21}>
          {short(unit.title)}
        </text>
        <svg x={block.x + 13} y={block.y + 29} width="14" height="14">
          <Mark state={unit.state} />
        </svg>
        <text class="phase" x={block.x + 32} y={block.y + 41}>
          {short(lineOf(unit))}
        </text>
      </a>
      {unit.inside && (
        <g
          class="toggle"
          role="button"
          tabindex={0}
          aria-expanded={Boolean(block.inside)}
          aria-label={`What is inside of ${unit.title}`}
          onClick={() => toggle(unit.name)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            toggle(unit.name);
          }}
        >
          <rect x={block.x + block.w - 32} y={block.y + 6} width="26" height="26" rx="6" />
          <path d={`M${block.x + block.w - 24} ${block.y + 19}h10${block.inside ? "" : "m-5 -5v10"}`} />
        </g>
      )}
      {block.inside && (
        <g transform={`translate(${block.x + (block.w - block.inside.w) / 2} ${block.y + unitHeight})`}>
          <Drawing picture={block.inside} namespace={namespace} toggle={toggle} />
        </g>
      )}
    </g>
  );
}

function Chip({ block }: { block: Block }) {
  const value = block.value!;
  return (
    <g class={`chip ${value.exporters?.length ? "" : "outside"}`}>
      <title>{`${value.kind} ${value.name}${value.exporters?.length ? "" : ", from outside"}`}</title>
      <rect x={block.x} y={block.y} width={block.w} height={block.h} rx={block.h / 2} />
      <text x={block.x + block.w / 2} y={block.y + 18}>
        {short(value.name)}
      </text>
    </g>
  );
}
