import { Cell, Section, Since, Table, To } from "./parts";
import { compareAddress, type Job, type Jobs, type Thing } from "./model";
import { Filter } from "./filter";

// Who or what starts a job, in words.
export const triggers: Record<string, string> = {
  reconcile: "the operation reconcile",
  "force-reconcile": "the operation force-reconcile",
  change: "a change of the spec",
  schedule: "spec.automaticReconcile",
  imports: "a change of its imports",
  exporter: "the success of what it imports from",
  exports: "a change of what items export",
  deletion: "its deletion",
  rollback: "an earlier specification, which is back",
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
          <JobTable jobs={view.jobs} />
        </Section>
      )}
      {view.more && <p class="hint">{view.more} more are not shown: filter by name.</p>}
    </>
  );
}

/** Who or what has started a job. The name of a client is what it calls itself. */
export function By({ job }: { job: Job }) {
  return (
    <>
      {triggers[job.trigger ?? ""] ?? job.trigger ?? <span class="quiet">not known</span>}
      {job.requestedBy && (
        <div class="quiet small">
          by a client that calls itself <q>{job.requestedBy}</q>
        </div>
      )}
      {job.overridden && (
        <div class="quiet small">
          although DeliveryPolicy <b>{job.overridden.policy}</b> would defer it
          {job.overridden.by && (
            <>
              : overridden by a client that calls itself <q>{job.overridden.by}</q>
            </>
          )}
        </div>
      )}
      {job.cause && <div class="quiet small">{job.cause}</div>}
    </>
  );
}

/** What a job has changed on clusters, in words. */
export function objectsOf({ objects }: Pick<Job, "objects">): string | undefined {
  if (!objects) return undefined;
  const { created, changed, deleted } = objects;
  const parts = [created && `${created} created`, changed && `${changed} changed`, deleted && `${deleted} deleted`].filter(Boolean);
  return parts.join(", ") || "none";
}

/** Whether the list, which begins with the newest, has a job of the same Installation before one. */
export function hasEarlier(jobs: Job[], at: number): boolean {
  const { of } = jobs[at];
  return jobs.slice(at + 1).some((job) => job.of?.namespace === of?.namespace && job.of?.name === of?.name);
}

/** Jobs of an Installation, or of those that the jobs name. */
export function JobTable({ jobs, of }: { jobs: Job[]; of?: Thing }) {
  const heads = ["Started", "By", "Ended in", "Objects", "Queued", "Preparing", "Running"];
  return (
    <Table heads={of ? heads : ["Installation", ...heads]}>
      {jobs.map((job, at) => (
        <tr key={(job.of ? job.of.namespace + "/" + job.of.name : "") + job.jobID}>
          {job.of && (
            <Cell head="Installation">
              <span class="quiet">{job.of.namespace} /</span> <To thing={job.of} />
            </Cell>
          )}
          <Cell head="Started">
            {job.start ? <Since time={job.start} /> : <span class="quiet">not known</span>}
            {hasEarlier(jobs, at) && (
              <div class="small">
                <a href={compareAddress((of ?? job.of!).namespace, (of ?? job.of!).name, job.jobID)} title="with the job before">
                  compare
                </a>
              </div>
            )}
          </Cell>
          <Cell head="By">
            <By job={job} />
          </Cell>
          <Cell head="Ended in">
            {job.phase ?? "now running"}
            {job.reason && <div class="quiet small">{job.reason}</div>}
          </Cell>
          <Cell head="Objects">{objectsOf(job)}</Cell>
          <Cell head="Queued">{job.queued && <span class="time">{job.queued}</span>}</Cell>
          <Cell head="Preparing">{job.preparing && <span class="time">{job.preparing}</span>}</Cell>
          <Cell head="Running">{job.running && <span class="time">{job.running}</span>}</Cell>
        </tr>
      ))}
    </Table>
  );
}
