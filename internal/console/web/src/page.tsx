import { useState } from "preact/hooks";
import { ActionBar } from "./actions";
import { Approval } from "./approval";
import { Flow } from "./flow";
import { JobTable } from "./jobs";
import { Above, Badge, Cell, Events, Mark, Message, Section, Since, Table, To } from "./parts";
import { TimelineSection } from "./timeline";
import { objectAddress, targetAddress, whyAddress, type Branch, type Hop, type Item, type Page, type Thing, type Value } from "./model";

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
      <Above frame={view} namespace={view.namespace} above={view.above} />
      <h1 tabIndex={-1}>
        {view.title} <Badge state={view.state} />
      </h1>
      <p class="quiet facts">
        {view.standing} <Since time={view.since} />
        {view.component && ` · ${view.component} ${view.version}`}
        {view.title !== view.name && ` · ${view.name}`}
        {" · "}
        <a href={objectAddress("Installation", view.namespace, view.name)}>YAML and own events</a>
      </p>
      <ActionBar key={`${view.namespace}/${view.name}`} view={view} />
      {view.planWait && <Approval key={`approval ${view.namespace}/${view.name}`} view={view} />}
      {view.state !== "Ready" && <Why ways={view.ways ?? []} thing={view} />}
      {view.timeline && <TimelineSection timeline={view.timeline} />}
      {view.flow && <Flow scope={view.flow} namespace={view.namespace} />}
      {view.tree && (
        <Section id="tree" title="Tree">
          <ul class="tree">
            <Node branch={view.tree} />
          </ul>
        </Section>
      )}
      <Values id="imports" title="Imports" namespace={view.namespace} values={view.imports} incoming />
      <Values id="exports" title="Exports" namespace={view.namespace} values={view.exports} />
      <Items items={view.items} />
      {view.jobs?.length && (
        <Section id="jobs" title="Jobs" count={view.jobs.length} aside={<a href={`/jobs?q=${encodeURIComponent(`${view.namespace}/`)}`}>all jobs of the namespace</a>}>
          <JobTable jobs={view.jobs} of={view} />
        </Section>
      )}
      <Events events={view.events} />
    </>
  );
}

function Why({ ways, thing }: { ways: Hop[][]; thing: Thing }) {
  if (ways.length === 0) return null;
  return (
    <Section id="why" title="Why it is not ready" count={ways.length > 1 ? ways.length : undefined} aside={<a href={whyAddress(thing)}>hop by hop, with what to do</a>}>
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
  const [open, setOpen] = useState(true);
  const name = branch.kind === "Execution" ? "Execution" : branch.title;
  const parts = branch.children ?? [];
  return (
    <li>
      <div class="line">
        {parts.length > 0 ? (
          <button type="button" class="fold" aria-expanded={open} aria-label={`What belongs to ${name}`} onClick={() => setOpen(!open)}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <path d={open ? "M1 3h8L5 8z" : "M3 1v8l5-4z"} />
            </svg>
          </button>
        ) : (
          <span class="fold" />
        )}
        <Mark state={branch.state} />
        <span>
          <To thing={branch}>{name}</To>
          <span class="quiet">
            {branch.kind === "DeployItem" && "item · "}
            {branch.standing}
            {branch.target && ` · on Target ${branch.target}`}
          </span>
          {branch.warnings && <Message text={`Warning: ${branch.warnings}`} />}
        </span>
      </div>
      {open && parts.length > 0 && (
        <ul>
          {parts.map((child) => (
            <Node key={child.kind + child.name} branch={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Values({ id, title, namespace, values, incoming }: { id: string; title: string; namespace: string; values?: Value[]; incoming?: boolean }) {
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
                {object.kind} {object.kind === "Target" ? <a href={targetAddress(namespace, object.name)}>{object.name}</a> : object.name}
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
                {!object.by?.length && !object.from && <span class="quiet">{incoming ? "outside" : "none"}</span>}
              </Cell>
              <Cell head="Fingerprint">{object.fingerprint ? <code>{object.fingerprint}</code> : <span class="quiet">none yet</span>}</Cell>
            </tr>
          )),
        )}
      </Table>
    </Section>
  );
}

export function Items({ items }: { items?: Item[] }) {
  if (!items?.length) return null;
  return (
    <Section id="items" title="Deploy items" count={items.length}>
      <Table heads={["Item", "Standing", "Target", "Type", "Last error"]}>
        {items.map((item) => (
          <tr key={item.name} id={`item-${item.name}`} tabIndex={-1}>
            <Cell head="Item">
              <a href={objectAddress(item.kind, item.namespace, item.name)} title={item.name}>
                {item.title}
              </a>
              <div class="quiet small">{item.page}</div>
            </Cell>
            <Cell head="Standing">
              <Mark state={item.state} /> {item.standing}
              <div class="quiet small">
                <Since time={item.since} />
              </div>
            </Cell>
            <Cell head="Target">{item.target ? <a href={targetAddress(item.namespace, item.target)}>{item.target}</a> : <span class="quiet">none</span>}</Cell>
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
