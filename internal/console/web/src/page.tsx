import type { ComponentChildren } from "preact";
import { Flow } from "./flow";
import { Badge, Mark, Message, Section, Since, To } from "./parts";
import { scopeOf, type Branch, type Happening, type Hop, type Item, type Job, type Page, type Value } from "./model";

export function InstallationPage({ view }: { view: Page }) {
  if (view.missing) {
    return (
      <>
        <h1 tabIndex={-1}>{view.name}</h1>
        <p class="hint">
          There is no Installation {view.name} in namespace {view.namespace}. It may have been deleted. <a href="/">See what exists</a>
        </p>
      </>
    );
  }
  return (
    <>
      <nav class="above" aria-label="Part of">
        <a href="/">{scopeOf(view)}</a>
        <span>{view.namespace}</span>
        {view.above?.map((thing) => <To key={thing.name} thing={thing} />)}
      </nav>
      <h1 tabIndex={-1}>
        {view.title} <Badge state={view.state} />
      </h1>
      <p class="quiet facts">
        {view.standing} <Since time={view.since} />
        {view.component && ` · ${view.component} ${view.version}`}
        {view.title !== view.name && ` · ${view.name}`}
      </p>
      {view.state !== "Ready" && <Why ways={view.ways ?? []} />}
      {view.flow && (
        <Section id="flow" title="Data flow">
          <Flow scope={view.flow} namespace={view.namespace} />
        </Section>
      )}
      {view.tree && (
        <Section id="tree" title="Tree">
          <ul class="tree">
            <Node branch={view.tree} />
          </ul>
        </Section>
      )}
      <Values id="imports" title="Imports" values={view.imports} incoming />
      <Values id="exports" title="Exports" values={view.exports} />
      <Items items={view.items} />
      <Jobs jobs={view.jobs} />
      <Events events={view.events} />
    </>
  );
}

function Why({ ways }: { ways: Hop[][] }) {
  if (ways.length === 0) return null;
  return (
    <Section id="why" title="Why it is not ready" count={ways.length > 1 ? ways.length : undefined}>
      {ways.map((hops) => (
        <ol class="way" key={hops.map((hop) => hop.kind + hop.name).join("/")}>
          {hops.map((hop, at) => (
            <li key={hop.kind + hop.name} class={hop.state}>
              <div>
                <Mark state={hop.state} /> {hop.beside && <span class="quiet">waits for </span>}
                <To thing={hop} /> <span class="quiet">{hop.kind === "Installation" ? hop.standing : `${hop.kind} · ${hop.standing ?? ""}`}</span>
              </div>
              {(at === hops.length - 1 || hops[at + 1].beside) && <Message text={hop.why} />}
            </li>
          ))}
        </ol>
      ))}
    </Section>
  );
}

function Node({ branch }: { branch: Branch }) {
  const line = (
    <>
      <Mark state={branch.state} />
      <To thing={branch}>{branch.kind === "Execution" ? "Execution" : branch.title}</To>
      <span class="quiet">
        {branch.kind === "DeployItem" && "item · "}
        {branch.standing}
        {branch.target && ` · on Target ${branch.target}`}
      </span>
      {branch.warnings && <Message text={`Warning: ${branch.warnings}`} />}
    </>
  );
  if (!branch.children?.length) return <li class="leaf">{line}</li>;
  return (
    <li>
      <details open>
        <summary>{line}</summary>
        <ul>
          {branch.children.map((child) => (
            <Node key={child.kind + child.name} branch={child} />
          ))}
        </ul>
      </details>
    </li>
  );
}

function Table({ heads, children }: { heads: string[]; children: ComponentChildren }) {
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
function Cell({ head, wide, children }: { head: string; wide?: boolean; children?: ComponentChildren }) {
  return (
    <td data-head={head} class={wide ? "wide" : ""}>
      <div>{children}</div>
    </td>
  );
}

function Values({ id, title, values, incoming }: { id: string; title: string; values?: Value[]; incoming?: boolean }) {
  if (!values?.length) return null;
  return (
    <Section id={id} title={title} count={values.length}>
      <Table heads={["Name", "Type", "Object", incoming ? "Comes from" : "Imported by", "Fingerprint"]}>
        {values.flatMap((value) =>
          value.objects.map((object) => (
            <tr key={value.name + object.kind + object.name}>
              <Cell head="Name">{value.name}</Cell>
              <Cell head="Type">{value.type}</Cell>
              <Cell head="Object">
                {object.kind} {object.name}
              </Cell>
              <Cell head={incoming ? "Comes from" : "Imported by"}>
                {object.by?.map((thing) => (
                  <span class="thing" key={thing.name}>
                    <Mark state={thing.state} /> <To thing={thing} />{" "}
                  </span>
                ))}
                {object.from && (
                  <>
                    imports of <To thing={object.from} />
                  </>
                )}
                {!object.by?.length && !object.from && <span class="quiet">{incoming ? "outside" : "nobody"}</span>}
              </Cell>
              <Cell head="Fingerprint">{object.fingerprint ? <code>{object.fingerprint}</code> : <span class="quiet">none yet</span>}</Cell>
            </tr>
          )),
        )}
      </Table>
    </Section>
  );
}

function Items({ items }: { items?: Item[] }) {
  if (!items?.length) return null;
  return (
    <Section id="items" title="Deploy items" count={items.length}>
      <Table heads={["Item", "Standing", "Target", "Type", "Last error"]}>
        {items.map((item) => (
          <tr key={item.name} id={`item-${item.name}`} tabIndex={-1}>
            <Cell head="Item">
              <span title={item.name}>{item.title}</span>
              <div class="quiet small">{item.page}</div>
            </Cell>
            <Cell head="Standing">
              <Mark state={item.state} /> {item.standing}
              <div class="quiet small">
                <Since time={item.since} />
              </div>
            </Cell>
            <Cell head="Target">{item.target ?? <span class="quiet">none</span>}</Cell>
            <Cell head="Type">{item.type.replace("landscaper.gardener.cloud/", "")}</Cell>
            <Cell head="Last error" wide>
              <Message text={item.error} />
              {item.error && (
                <span class="quiet small">
                  {[item.operation, ...(item.codes ?? [])].filter(Boolean).join(" · ")} <Since time={item.errorTime} />
                </span>
              )}
            </Cell>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function Jobs({ jobs }: { jobs?: Job[] }) {
  if (!jobs?.length) return null;
  return (
    <Section id="jobs" title="Jobs" count={jobs.length}>
      <Table heads={["Started", "By", "Ended in", "Queued", "Preparing", "Running"]}>
        {jobs.map((job) => (
          <tr key={job.jobID}>
            <Cell head="Started">{job.start ? <Since time={job.start} /> : "now running"}</Cell>
            <Cell head="By">{job.trigger}</Cell>
            <Cell head="Ended in">{job.phase}</Cell>
            <Cell head="Queued">{job.queued}</Cell>
            <Cell head="Preparing">{job.preparing}</Cell>
            <Cell head="Running">{job.running}</Cell>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function Events({ events }: { events?: Happening[] }) {
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
              <span class="quiet">{event.kind}</span> {event.name}
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
