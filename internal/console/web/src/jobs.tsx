import { Cell, Section, Since, Table, To } from "./parts";
import type { Job, Jobs } from "./model";
import { Filter } from "./filter";

// Who or what starts a job, in words.
const triggers: Record<string, string> = {
  reconcile: "the operation reconcile",
  "force-reconcile": "the operation force-reconcile",
  change: "a change of the spec",
  schedule: "spec.automaticReconcile",
  imports: "a change of its imports",
  exports: "a change of what items export",
  deletion: "its deletion",
  parent: "the job of its parent",
};

export function JobsPage({ view, text }: { view: Jobs; text: string }) {
  return (
    <>
      <h1 tabIndex={-1}>Jobs</h1>
      <p class="quiet facts">Those that run first, then the newest. An Installation records its last ten.</p>
      <Filter text={text} path="/jobs" label="Filter by namespace or name" />
      {view.jobs.length === 0 ? (
        <p class="hint">{text ? `No job of an Installation that has “${text}” in its name.` : "There was no job yet."}</p>
      ) : (
        <Section id="jobs" title="All roots" count={view.jobs.length + (view.more ?? 0)}>
          <JobTable jobs={view.jobs} all />
        </Section>
      )}
      {view.more && <p class="hint">{view.more} more are not shown: filter by name.</p>}
    </>
  );
}

export function JobTable({ jobs, all }: { jobs: Job[]; all?: boolean }) {
  const heads = ["Started", "By", "Ended in", "Queued", "Preparing", "Running"];
  return (
    <Table heads={all ? ["Installation", ...heads] : heads}>
      {jobs.map((job) => (
        <tr key={(job.of ? job.of.namespace + "/" + job.of.name : "") + job.jobID}>
          {all && job.of && (
            <Cell head="Installation">
              <span class="quiet">{job.of.namespace} /</span> <To thing={job.of} />
            </Cell>
          )}
          <Cell head="Started">{job.start ? <Since time={job.start} /> : <span class="quiet">not known</span>}</Cell>
          <Cell head="By">
            {triggers[job.trigger ?? ""] ?? job.trigger ?? <span class="quiet">not known</span>}
            {job.cause && <div class="quiet small">{job.cause}</div>}
          </Cell>
          <Cell head="Ended in">{job.phase ?? "now running"}</Cell>
          <Cell head="Queued">{job.queued}</Cell>
          <Cell head="Preparing">{job.preparing}</Cell>
          <Cell head="Running">{job.running}</Cell>
        </tr>
      ))}
    </Table>
  );
}
