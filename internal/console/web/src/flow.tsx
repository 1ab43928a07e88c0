import { Mark } from "./parts";
import { pageAddress, type FlowValue, type Scope, type Unit } from "./model";

// Sizes in the units of the picture.
const unitHeight = 52;
const chipHeight = 28;
const lineHeight = 4;
const columnGap = 46;
const rowGap = 16;
const character = 7.4;
const longest = 26;

/** Something with a place: an Installation, a value, or the space that a line needs to pass others. */
interface Block {
  unit?: Unit;
  value?: FlowValue;
  column: number;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** A line from the first block to the last, past others through the spaces between. */
type Edge = Block[];

interface Picture {
  blocks: Block[];
  edges: Edge[];
  w: number;
  h: number;
}

function short(text: string): string {
  return text.length > longest ? text.slice(0, longest - 1) + "…" : text;
}

/** Finds a place for everything: values flow from left to right. */
export function arrange(scope: Scope): Picture {
  const blocks: Block[] = [];
  const edges: Edge[] = [];
  const units = new Map<string, Block>();
  for (const unit of scope.units) {
    const width = Math.max(short(unit.title).length, short(lineOf(unit)).length + 3) * character + 32;
    const block = { unit, column: 0, x: 0, y: 0, w: Math.max(120, width), h: unitHeight };
    units.set(unit.name, block);
    blocks.push(block);
  }
  for (const value of scope.values ?? []) {
    const block = { value, column: 0, x: 0, y: 0, w: short(value.name).length * character + 32, h: chipHeight };
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
      const space = { column, x: 0, y: 0, w: 0, h: lineHeight };
      blocks.push(space);
      edge.splice(-1, 0, space);
    }
  }
}

function place(blocks: Block[], edges: Edge[]): { w: number; h: number } {
  const columns: Block[][] = [];
  for (const block of blocks) (columns[block.column] ??= []).push(block);
  let x = 0;
  let height = 0;
  for (const column of columns.filter(Boolean)) {
    // Each block is near the middle of what leads to it.
    const wanted = new Map(column.map((block, at) => [block, middle(block, edges) ?? at * (unitHeight + rowGap)]));
    column.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
    let y = 0;
    for (const block of column) {
      block.x = x;
      block.y = y;
      y += block.h + rowGap;
    }
    height = Math.max(height, y - rowGap);
    const width = Math.max(...column.map((block) => block.w));
    for (const block of column) if (isSpace(block)) block.w = width;
    x += width + columnGap;
  }
  for (const column of columns.filter(Boolean)) {
    const last = column[column.length - 1];
    const shift = (height - last.y - last.h) / 2;
    for (const block of column) block.y += shift;
  }
  return { w: Math.max(0, x - columnGap), h: height };
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

/** Draws how values flow. Each Installation is a link to its page. */
export function Flow({ scope, namespace }: { scope: Scope; namespace: string }) {
  const picture = arrange(scope);
  const margin = 4;
  const width = picture.w + 2 * margin;
  const height = picture.h + 2 * margin;
  return (
    <div class="flow" tabIndex={0} role="group" aria-label="How values flow between the parts">
      <svg viewBox={`${-margin} ${-margin} ${width} ${height}`} width={width} height={height}>
        <g class="edges">
          {picture.edges.map((edge) => {
            const [from, to] = [edge[0], edge[edge.length - 1]];
            return <path key={keyOf(from) + keyOf(to)} class={(from.unit ?? to.unit)?.state} d={line(edge)} />;
          })}
        </g>
        {picture.blocks.filter((block) => !isSpace(block)).map((block) => (block.unit ? <UnitBox key={keyOf(block)} block={block} unit={block.unit} namespace={namespace} /> : <Chip key={keyOf(block)} block={block} />))}
      </svg>
    </div>
  );
}

function keyOf(block: Block): string {
  return block.unit ? `unit ${block.unit.name}` : `${block.value?.kind} ${block.value?.name}`;
}

function line(edge: Edge): string {
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

function UnitBox({ block, unit, namespace }: { block: Block; unit: Unit; namespace: string }) {
  return (
    <a href={pageAddress(namespace, unit.name)} class={`unit ${unit.state}`} aria-label={`${unit.title}, ${unit.state}, ${lineOf(unit)}`}>
      <title>{unit.why ? `${unit.title}: ${unit.why}` : unit.title}</title>
      <rect x={block.x} y={block.y} width={block.w} height={block.h} rx="8" />
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
