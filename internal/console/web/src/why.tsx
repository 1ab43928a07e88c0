import { Above, Badge, Mark, Message, Since, To } from "./parts";
import { TargetReach } from "./targets";
import { objectAddress, targetAddress, type Step, type Why } from "./model";

export function WhyPage({ view }: { view: Why }) {
  if (view.missing) return <NotThere kind={view.kind} namespace={view.namespace} name={view.name} />;
  return (
    <>
      <Above frame={view} namespace={view.namespace} above={view.above} />
      <h1 tabIndex={-1}>
        {view.state === "Ready" ? `${view.title} is ready` : `Why ${view.title} is not ready`} <Badge state={view.state} />
      </h1>
      <p class="quiet facts">
        {view.kind} {view.name} · {view.standing} <Since time={view.since} />
      </p>
      {view.ways?.map((steps, at) => (
        <section key={steps.map((step) => step.kind + step.name).join("/")} aria-label={`Way ${at + 1}`}>
          <ol class="steps">
            {steps.map((step, hop) => (
              <StepCard key={step.kind + step.name} step={step} before={steps[hop - 1]} last={hop === steps.length - 1} />
            ))}
          </ol>
        </section>
      ))}
      {view.more && <p class="hint">{view.more} more causes are not shown.</p>}
      {!view.ways?.length && view.state !== "Ready" && (
        <section aria-labelledby="works">
          <h2 id="works">Nothing is wrong: this is at work</h2>
          <ul class="plain">
            {view.works?.map((thing) => (
              <li key={thing.kind + thing.name}>
                <Mark state={thing.state} /> <To thing={thing} /> <span class="quiet">{thing.kind} · {thing.standing}</span> <span class="quiet small"><Since time={thing.since} /></span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {view.state === "Ready" && <p class="hint">It waits for nothing.</p>}
    </>
  );
}

export function NotThere({ kind, namespace, name }: { kind: string; namespace: string; name: string }) {
  return (
    <>
      <h1 tabIndex={-1}>{name}</h1>
      <p class="hint">
        There is no {kind} {name} in namespace {namespace}, or you may not see it. It may have been deleted. <a href="/">See what exists</a>
      </p>
    </>
  );
}

/** What connects a hop with the one before. */
export function relation(step: Step, before: Step): string {
  if (!step.beside) return `${before.kind === "Execution" ? before.name : before.title} is not ready because of`;
  if (!step.values?.length) return `${before.title} waits for the end of`;
  return `${before.title} imports ${step.values.join(", ")} from`;
}

function StepCard({ step, before, last }: { step: Step; before?: Step; last: boolean }) {
  const ends = last || Boolean(step.reason || step.meaning);
  return (
    <li class={step.state}>
      {before && <p class="relation quiet">{relation(step, before)}</p>}
      <div class={`card ${last ? "cause" : ""}`}>
        <div class="head">
          <Mark state={step.state} /> <To thing={step}>{step.kind === "Execution" ? step.name : step.title}</To>{" "}
          <span class="quiet">
            {step.kind === "DeployItem" ? "deploy item" : step.kind} · {step.standing} <Since time={step.since} />
          </span>
          {last && <span class="tag">{step.state === "Waiting" || step.state === "Running" ? "waited for" : "the cause"}</span>}
        </div>
        {ends && <Message text={step.why} />}
        {step.meaning && (
          <dl class="facts-list">
            <dt>{step.reason}</dt>
            <dd>{step.meaning}</dd>
            <dt>What to do</dt>
            <dd>{step.remedy}</dd>
          </dl>
        )}
        {(step.operation || step.codes) && (
          <p class="quiet small">
            {[step.meaning ? "" : step.reason, step.operation, ...(step.codes ?? [])].filter(Boolean).join(" · ")} <Since time={step.errorTime} />
          </p>
        )}
        {step.target && (
          <p class="small">
            On Target <a href={targetAddress(step.target.namespace, step.target.name)}>{step.target.name}</a> · <TargetReach line={step.target} />
          </p>
        )}
        {ends && (
          <p class="small">
            <a href={objectAddress(step.kind, step.namespace, step.name)}>YAML and events</a>
          </p>
        )}
      </div>
    </li>
  );
}
