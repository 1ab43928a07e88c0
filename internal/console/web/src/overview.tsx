import { RunAgain } from "./actions";
import { Badge, Mark, Message, Since, To } from "./parts";
import { scopeOf, states, type Overview, type Row, type Thing } from "./model";

export function OverviewPage({ view, text }: { view: Overview; text: string }) {
  const urgent = view.rows.filter(needsAttention);
  const others = view.rows.filter((row) => !needsAttention(row));
  const total = Object.values(view.counts).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <h1 tabIndex={-1}>{scopeOf(view)}</h1>
      <ul class="counts" aria-label="Installations by state">
        <li>
          <b>{total}</b> {total === 1 ? "Installation" : "Installations"}
        </li>
        {states.map(
          (state) =>
            view.counts[state] && (
              <li key={state} class={state}>
                <Mark state={state} />
                <b>{view.counts[state]}</b> {state}
              </li>
            ),
        )}
      </ul>
      <RunAgain failed={view.counts.Failed ?? 0} />
      {text && (
        <p class="hint" role="status">
          {view.rows.length === 0
            ? `Nothing has “${text}” in its name, component, version, Target, imports or exports.`
            : `${view.rows.length + (view.more ?? 0)} found for “${text}”.`}
        </p>
      )}
      {!text && total === 0 && (
        <p class="hint">
          {view.limited
            ? "There is no Installation that you may list. Ask for the right to list Installations in a namespace."
            : "There is no Installation here yet. It appears as soon as somebody creates one."}
        </p>
      )}
      {urgent.length > 0 && <Rows id="attention" title="Needs attention" rows={urgent} />}
      {others.length > 0 && <Rows id="others" title={urgent.length > 0 ? "Others" : "Installations"} rows={others} />}
      {view.more && <p class="hint">{view.more} more are not shown: search for them.</p>}
    </>
  );
}

/** Whether a thing does not come to its end by itself. */
export function needsAttention(thing: Thing): boolean {
  return thing.state !== "Ready" && thing.state !== "Running";
}

function Rows({ id, title, rows }: { id: string; title: string; rows: Row[] }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title}
        <span class="count">{rows.length}</span>
      </h2>
      <ul class="rows">
        {rows.map((row) => (
          <li key={`${row.kind}/${row.namespace}/${row.name}`} class={row.state}>
            <Badge state={row.state} />
            <div class="what">
              <div class="head">
                <span class="quiet">{row.namespace} / </span>
                <To thing={row}>{row.name}</To>
                {row.kind !== "Installation" && <span class="quiet"> {row.kind}</span>}
              </div>
              {row.component && (
                <div class="quiet">
                  {row.component} {row.version}
                </div>
              )}
              {row.found && <div class="quiet">{row.found}</div>}
              <Message text={row.why} />
            </div>
            <div class="quiet when">
              {row.standing} <Since time={row.since} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
