import { Items } from "./page";
import { Badge, Cell, Mark, Message, Section, Since, Table, To } from "./parts";
import { Filter } from "./filter";
import { objectAddress, states, targetAddress, type Sync, type Target, type TargetLine, type Targets } from "./model";

export function TargetsPage({ view, text }: { view: Targets; text: string }) {
  return (
    <>
      <h1 tabIndex={-1}>Targets</h1>
      <p class="quiet facts">Whether a cluster can be reached is what the items that deploy there have shown last. What a Target holds is not read.</p>
      <Filter text={text} path="/targets" label="Filter by namespace, name, shoot or TargetSync" />
      <Syncs syncs={view.syncs} />
      {view.targets.length > 0 && (
        <Section id="targets" title="Targets" count={view.targets.length + (view.more ?? 0)}>
          <Table heads={["Target", "Cluster", "Credentials", "Comes from", "Items"]}>
            {view.targets.map((line) => (
              <tr key={line.namespace + "/" + line.name}>
                <Cell head="Target">
                  <span class="quiet">{line.namespace} /</span> <a href={targetAddress(line.namespace, line.name)}>{line.name}</a>
                  {line.fingerprint && (
                    <div>
                      <code class="quiet">{line.fingerprint}</code>
                    </div>
                  )}
                </Cell>
                <Cell head="Cluster" wide>
                  <TargetReach line={line} />
                  <Message text={line.why} />
                </Cell>
                <Cell head="Credentials">
                  <Age line={line} />
                </Cell>
                <Cell head="Comes from">
                  <Source line={line} />
                </Cell>
                <Cell head="Items">
                  <Counts line={line} />
                </Cell>
              </tr>
            ))}
          </Table>
        </Section>
      )}
      {view.targets.length === 0 && <p class="hint">{text ? `No Target has “${text}” in its name, namespace, shoot or TargetSync.` : "There is no Target here, or you may not see them."}</p>}
      {view.more && <p class="hint">{view.more} more are not shown: filter by name.</p>}
    </>
  );
}

export function TargetPage({ view }: { view: Target }) {
  return (
    <>
      <nav class="above" aria-label="Part of">
        <a href="/targets">Targets</a>
        <a href={`/targets?q=${encodeURIComponent(view.namespace)}`}>{view.namespace}</a>
      </nav>
      <h1 tabIndex={-1}>{view.name}</h1>
      {view.missing ? (
        <p class="hint">There is no Target {view.name} in namespace {view.namespace}, or you may not see it.</p>
      ) : (
        <p class="quiet facts">
          <a href={objectAddress("Target", view.namespace, view.name)}>Metadata and events</a>
        </p>
      )}
      <Section id="facts" title="What is known">
        <dl class="facts-list">
          <dt>Cluster</dt>
          <dd>
            <TargetReach line={view} />
            <Message text={view.why} />
          </dd>
          <dt>Credentials</dt>
          <dd>
            <Age line={view} />
          </dd>
          <dt>Comes from</dt>
          <dd>
            <Source line={view} />
          </dd>
          {view.fingerprint && (
            <>
              <dt>Fingerprint</dt>
              <dd>
                <code>{view.fingerprint}</code>
              </dd>
            </>
          )}
        </dl>
      </Section>
      <Items items={view.used} />
      {!view.used?.length && <p class="hint">No deploy item uses it.</p>}
    </>
  );
}

/** What items have shown of the cluster. */
export function TargetReach({ line }: { line: TargetLine }) {
  if (line.missing) return <span class="warning">there is no such Target, or you may not see it</span>;
  if (!line.state) return <span class="quiet">no item has shown it yet</span>;
  return (
    <span>
      <Mark state={line.state} /> {line.state === "Ready" ? "reached" : "not reached"} <Since time={line.reachedAt} />
      {line.by && (
        <span class="quiet">
          {" "}
          by <To thing={line.by} />
        </span>
      )}
    </span>
  );
}

function Age({ line }: { line: TargetLine }) {
  if (line.issued)
    return (
      <>
        issued <Since time={line.issued} />
      </>
    );
  if (line.inSecret) return <span class="quiet">in a Secret, which is not read</span>;
  if (line.written)
    return (
      <>
        written <Since time={line.written} />
      </>
    );
  return <span class="quiet">not known</span>;
}

function Source({ line }: { line: TargetLine }) {
  if (line.exporter)
    return (
      <>
        export of <To thing={line.exporter} />
      </>
    );
  if (line.sync)
    return (
      <>
        TargetSync <a href={objectAddress("TargetSync", line.namespace, line.sync)}>{line.sync}</a>
        {line.shoot && <div class="quiet small">shoot {line.shoot}</div>}
      </>
    );
  return <span class="quiet">{line.missing ? "not known" : "a user"}</span>;
}

function Counts({ line }: { line: TargetLine }) {
  const present = states.filter((state) => line.items?.[state]);
  if (present.length === 0) return <span class="quiet">none</span>;
  return (
    <>
      {present.map((state) => (
        <span class="thing" key={state} title={state}>
          <Mark state={state} /> {line.items![state]} <span class="hidden">{state}</span>{" "}
        </span>
      ))}
    </>
  );
}

function Syncs({ syncs }: { syncs?: Sync[] }) {
  if (!syncs?.length) return null;
  return (
    <Section id="syncs" title="TargetSyncs" count={syncs.length}>
      <ul class="rows">
        {syncs.map((sync) => (
          <li key={sync.namespace + "/" + sync.name} class={sync.state}>
            <Badge state={sync.state} />
            <div class="what">
              <div class="head">
                <span class="quiet">{sync.namespace} / </span>
                <a href={objectAddress("TargetSync", sync.namespace, sync.name)}>{sync.name}</a>
              </div>
              <div class="quiet">
                from {sync.source} · {sync.synced} up to date{sync.skipped ? `, ${sync.skipped} wait` : ""}
                {sync.failed ? `, ${sync.failed} failed` : ""}
              </div>
              <div>
                {sync.reachable === undefined ? (
                  <span class="quiet">the source was not asked yet</span>
                ) : (
                  <>
                    <Mark state={sync.reachable ? "Ready" : "Failed"} /> the source is {sync.reachable ? "reached" : "not reached"} <span class="quiet">since <Since time={sync.reachableSince} /></span>
                  </>
                )}
                <span class="quiet">
                  {" · token "}
                  {sync.rotated ? <>renewed <Since time={sync.rotated} /></> : sync.rotates ? "not renewed yet" : "not renewed by the TargetSync"}
                </span>
              </div>
              <Message text={sync.why} />
              {sync.items?.length && (
                <ul class="plain small">
                  {sync.items.map((item) => (
                    <li key={item.name}>
                      <Mark state={item.state === "Failed" ? "Failed" : "Waiting"} /> <b>{item.name}</b> {item.state === "Skipped" && <span class="quiet">has to wait</span>}
                      <Message text={item.message} />
                    </li>
                  ))}
                </ul>
              )}
            </div>
            <div class="quiet when">
              {sync.success && (
                <>
                  well <Since time={sync.success} />
                </>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}
