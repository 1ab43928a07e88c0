import { useEffect, useState } from "preact/hooks";
import { ask, type Answer } from "./ask";
import { Above, Badge, Message, Section } from "./parts";
import { pageAddress, type Page } from "./model";

export type Happens = "create" | "update" | "delete" | "keep" | "replace" | "move" | "unknown";

export interface Plan {
  notes?: string[];
  items?: {
    path: string;
    target?: string;
    action: Happens;
    unknown?: string;
    objects?: {
      action: Happens;
      kind: string;
      name: string;
      cluster?: string;
      note?: string;
      fields?: { path: string; secret?: boolean; action: Happens; lines?: { action: Happens; text: string }[] }[];
    }[];
  }[];
  follows?: string[];
  waiting?: { path: string; reason: string }[];
  summary: string;
  changes: boolean;
  digest?: string;
}

// A sign for each: colours alone would not be enough.
const signs: Record<Happens, [sign: string, word: string]> = {
  create: ["+", "create"],
  update: ["~", "change"],
  delete: ["−", "delete"],
  keep: ["=", "stays"],
  replace: ["±", "delete and create"],
  move: ["→", "move"],
  unknown: ["?", "known only when the job runs"],
};

function Sign({ action, word = signs[action][1] }: { action: Happens; word?: string }) {
  return (
    <span class={`sign ${action}`}>
      <span aria-hidden="true">{signs[action][0]}</span> {word}
    </span>
  );
}

/** Asks for a plan, again after each call of the second value. */
export function usePlan(namespace: string, name: string, wanted = true): [Answer<Plan> | undefined, () => void] {
  const [plan, setPlan] = useState<Answer<Plan>>();
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (!wanted) return;
    // A plan that nobody looks at any more is not worked out to its end.
    const page = new AbortController();
    setPlan(undefined);
    ask<Plan>(`/plan/job${pageAddress(namespace, name).slice(2)}`, undefined, page.signal).then((answer) => page.signal.aborted || setPlan(answer));
    return () => page.abort();
  }, [namespace, name, wanted, times]);
  return [plan, () => setTimes(times + 1)];
}

export function PlanView({ answer }: { answer?: Answer<Plan> }) {
  if (!answer) return <p class="hint" role="status">Working out the plan: the tree is rendered, and the clusters are asked …</p>;
  if (!answer.content) return <Message text={answer.wrong} />;
  const plan = answer.content;
  return (
    <div class="plan">
      <p class={plan.changes ? "summary" : "summary quiet"} role="status">
        {plan.changes ? plan.summary : `Nothing changes: ${plan.summary}`}
      </p>
      {plan.digest && (
        <p class="quiet small digest">
          <span>Digest of the plan:</span> <code>{plan.digest}</code>
        </p>
      )}
      {plan.notes?.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
      {plan.items?.map((item) => (
        <div key={item.path} class="planned">
          <h3>
            {item.path}
            {item.target && <span class="quiet"> on Target {item.target}</span>}
            {item.action === "delete" && (
              <>
                {" "}
                <Sign action="delete" />
              </>
            )}
          </h3>
          {item.unknown && (
            <p class="small">
              <Sign action="unknown" word="not known" />: {item.unknown}
            </p>
          )}
          <ul class="changes">
            {item.objects?.map((object) => (
              <li key={object.kind + object.name + (object.cluster ?? "")}>
                <div>
                  <Sign action={object.action} /> <b>{object.kind}</b> {object.name}
                  {object.cluster && <span class="quiet"> on the earlier cluster {object.cluster}</span>}
                  {object.note && <span class="quiet">: {object.note}</span>}
                </div>
                {object.fields?.length ? (
                  <dl class="fields">
                    {object.fields.map((field) => (
                      <Field key={field.path} field={field} />
                    ))}
                  </dl>
                ) : null}
              </li>
            ))}
          </ul>
        </div>
      ))}
      {plan.follows?.map((name) => (
        <p key={name} class="small">
          The Installation <b>{name}</b> gets a job, too: it imports what changes.
        </p>
      ))}
      {plan.waiting?.map((waiting) => (
        <p key={waiting.path} class="small">
          <Sign action="unknown" />: {waiting.path}, {waiting.reason}
        </p>
      ))}
    </div>
  );
}

/** What is shown in place of a secret. */
export function masked(action: Happens): string {
  return `secret, ${signs[action][1]}d`;
}

function Field({ field }: { field: NonNullable<NonNullable<NonNullable<Plan["items"]>[number]["objects"]>[number]["fields"]>[number] }) {
  return (
    <>
      <dt>{field.path}</dt>
      <dd>
        {field.secret && <span class="quiet">{masked(field.action)}</span>}
        {field.lines?.map((line, at) =>
          line.action === "create" ? (
            <ins key={at}>
              <span aria-hidden="true">+ </span>
              {line.text}
            </ins>
          ) : (
            <del key={at}>
              <span aria-hidden="true">− </span>
              {line.text}
            </del>
          ),
        )}
      </dd>
    </>
  );
}

/** The page with the plan of a job. */
export function PlanPage({ view }: { view: Page }) {
  const [plan, again] = usePlan(view.namespace, view.name, !view.missing);
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
        Plan of {view.title} <Badge state={view.state} />
      </h1>
      <p class="quiet facts">
        What a job would change on the clusters now, with your rights. Of secrets it is only shown whether they change. <a href={pageAddress(view.namespace, view.name)}>the Installation</a>
      </p>
      <Section
        id="plan"
        title="Changes"
        aside={
          <button type="button" onClick={again} disabled={!plan}>
            Work out again
          </button>
        }
      >
        <PlanView answer={plan} />
      </Section>
    </>
  );
}
