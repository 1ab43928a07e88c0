import { useContext } from "preact/hooks";
import type { ComponentChild } from "preact";
import { Address } from "./filter";
import { By, objectsOf } from "./jobs";
import { Above, Badge, Cell, clockTime, Mark, Section, Since, Table, To } from "./parts";
import { compareAddress, pageAddress, type Comparison, type Job, type Outcome } from "./model";

/** The page that compares two jobs of an Installation. */
export function ComparePage({ view }: { view: Comparison }) {
  if (view.missing) {
    return (
      <>
        <h1 tabIndex={-1}>{view.name}</h1>
        <p class="hint">
          There is no Installation {view.name} in namespace {view.namespace}. <a href="/">See what exists</a>
        </p>
      </>
    );
  }
  return (
    <>
      <Above frame={view} namespace={view.namespace} above={view.above} />
      <h1 tabIndex={-1}>
        Two jobs of {view.title} <Badge state={view.state} />
      </h1>
      <p class="quiet facts">
        What each of them worked on, and what came of it, as it is recorded. <a href={pageAddress(view.namespace, view.name)}>the Installation</a>
      </p>
      {view.jobs?.length ? <Choice view={view} jobs={view.jobs} /> : <p class="hint">There was no job yet.</p>}
      {view.earlier && view.later && <Both view={view} earlier={view.earlier} later={view.later} />}
      {view.jobs && !(view.earlier && view.later) && <p class="hint">Choose two jobs. Those that are not listed are not recorded any more.</p>}
    </>
  );
}

/** Two lists of jobs; what is chosen is in the address. */
function Choice({ view, jobs }: { view: Comparison; jobs: Job[] }) {
  const { url, go } = useContext(Address);
  const { earlier, later } = chosen(view, jobs, url);
  const list = (label: string, chosen: Job | undefined, to: (id: string) => string) => (
    <label>
      {label}{" "}
      <select value={chosen?.jobID ?? ""} onChange={(event) => event.currentTarget.value && go(to(event.currentTarget.value), true)}>
        {!chosen && <option value="">choose one</option>}
        {jobs.map((job) => (
          <option key={job.jobID} value={job.jobID}>
            {job.start ? clockTime(job.start) : "start not known"}, {job.phase ?? "now running"}
          </option>
        ))}
      </select>
    </label>
  );
  const of = (one?: string, other?: string) => compareAddress(view.namespace, view.name, one, other);
  return (
    <div class="choice">
      {list("Earlier", earlier, (id) => of(later?.jobID ?? id, later && id))}
      {list("Later", later, (id) => of(id, earlier?.jobID))}
    </div>
  );
}

/** The two jobs of the address, which is ahead of the view while that is on its way. */
export function chosen(view: Comparison, jobs: Job[], url: URL): { earlier?: Job; later?: Job } {
  const [one, other] = [url.searchParams.get("one"), url.searchParams.get("other")];
  // Jobs are listed from the newest.
  const named = jobs.filter((job) => job.jobID === one || job.jobID === other);
  return named.length === 2 ? { later: named[0], earlier: named[1] } : view;
}

/** What is the same in two jobs. No two jobs take the same time, so that is not compared. */
export function sameOf(earlier: Job, later: Job) {
  return {
    by: earlier.trigger === later.trigger && earlier.requestedBy === later.requestedBy,
    phase: earlier.phase === later.phase,
    // A job that runs has no reason yet.
    reason: earlier.phase && later.phase ? earlier.reason === later.reason : undefined,
    component: earlier.component === later.component,
    generation: earlier.generation === later.generation,
    imports: earlier.importsHash === later.importsHash,
  };
}

/** Whether imports differ of which none is listed. */
export function differsUnlisted(view: Comparison, same: boolean): boolean {
  return !same && !view.imports?.some((one) => one.earlier !== one.later);
}

function Both({ view, earlier, later }: { view: Comparison; earlier: Job; later: Job }) {
  const imports = view.imports ?? [];
  const same = sameOf(earlier, later);
  const facts: [what: string, show: (job: Job) => ComponentChild, same?: boolean][] = [
    ["Started", (job) => (job.start ? <Since time={job.start} /> : <Quiet>not known</Quiet>)],
    ["By", (job) => <By job={job} />, same.by],
    ["Ended in", (job) => job.phase ?? "now running", same.phase],
    ["Reason", (job) => job.reason ?? <Quiet>none</Quiet>, same.reason],
    ["Component", (job) => job.component ?? <Quiet>not recorded</Quiet>, same.component],
    ["Generation of the spec", (job) => job.generation ?? <Quiet>not recorded</Quiet>, same.generation],
    ["Imports", (job) => (job.importsHash ? <code>{job.importsHash}</code> : <Quiet>not recorded</Quiet>), same.imports],
    ["Objects", (job) => objectsOf(job) ?? <Quiet>not recorded</Quiet>],
    ["Queued", (job) => job.queued ?? <Quiet>under 1s</Quiet>],
    ["Preparing", (job) => job.preparing ?? <Quiet>under 1s</Quiet>],
    ["Running", (job) => job.running ?? <Quiet>{job.phase ? "under 1s" : "until now"}</Quiet>],
  ];
  return (
    <>
      <Section id="facts" title="The jobs">
        <Table heads={["What", "Earlier", "Later", "Same"]}>
          {facts.map(([what, show, yes]) => (
            <tr key={what}>
              <Cell head="What">{what}</Cell>
              <Cell head="Earlier">{show(earlier)}</Cell>
              <Cell head="Later">{show(later)}</Cell>
              <Cell head="Same">{yes !== undefined && <Same yes={yes} />}</Cell>
            </tr>
          ))}
        </Table>
      </Section>
      {(imports.length > 0 || !same.imports) && (
        <Section id="imports" title="Imports" count={imports.length}>
          {imports.length > 0 && (
            <Table heads={["Name", "Earlier", "Later", "Same"]}>
              {imports.map((one) => (
                <tr key={one.name}>
                  <Cell head="Name">{one.name}</Cell>
                  <Cell head="Earlier">{one.earlier ? <code>{one.earlier}</code> : <Quiet>none</Quiet>}</Cell>
                  <Cell head="Later">{one.later ? <code>{one.later}</code> : <Quiet>none</Quiet>}</Cell>
                  <Cell head="Same">
                    <Same yes={one.earlier === one.later} />
                  </Cell>
                </tr>
              ))}
            </Table>
          )}
          {differsUnlisted(view, same.imports) && <p class="hint">An import differs that is not recorded: of many imports, the first ones are.</p>}
        </Section>
      )}
      {view.parts?.length ? (
        <Section id="parts" title="Parts" count={view.parts.length + (view.more ?? 0)}>
          <Table heads={["Part", "Earlier", "Later", "Differs in"]}>
            {view.parts.map((part) => (
              <tr key={part.name}>
                <Cell head="Part">
                  <Mark state={part.state} /> <To thing={part} />
                  <div class="quiet small">{part.name}</div>
                </Cell>
                <Cell head="Earlier">
                  <Ended outcome={part.earlier} />
                </Cell>
                <Cell head="Later">
                  <Ended outcome={part.later} />
                </Cell>
                <Cell head="Differs in">{part.differs?.length ? part.differs.map((name) => words[name]).join(", ") : <Quiet>nothing but time</Quiet>}</Cell>
              </tr>
            ))}
          </Table>
          {view.more && <p class="hint">{view.more} more are not shown, in which nothing differs but the time.</p>}
        </Section>
      ) : null}
    </>
  );
}

const words = { phase: "how it ended", reason: "the reason", generation: "the spec", component: "the component", imports: "the imports" };

function Ended({ outcome }: { outcome?: Outcome }) {
  if (!outcome) return <Quiet>not recorded</Quiet>;
  return (
    <>
      {outcome.phase ?? "now running"}
      {outcome.phase && <span class="quiet"> in {outcome.took ?? "under 1s"}</span>}
      {outcome.reason && <div class="quiet small">{outcome.reason}</div>}
    </>
  );
}

function Same({ yes }: { yes: boolean }) {
  return yes ? <Quiet>same</Quiet> : <b class="differs">≠ differs</b>;
}

function Quiet({ children }: { children: ComponentChild }) {
  return <span class="quiet">{children}</span>;
}
