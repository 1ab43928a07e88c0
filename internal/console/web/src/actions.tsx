import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Answer } from "./ask";
import { Mark, Message, To } from "./parts";
import { PlanView, usePlan } from "./plan";
import { pageAddress, type Page, type Thing } from "./model";

type Action = "reconcile" | "force-reconcile" | "interrupt" | "abort" | "set-imports" | "skip" | "unskip" | "delete";

interface Offer {
  uid: string;
  actions: Action[];
  plans?: boolean;
  imports?: string[];
  part?: string;
}

export interface Done {
  remarks?: string[];
}

interface ActionRequest {
  uid: string;
  keep?: boolean;
  imports?: { name: string; text: string; anything?: boolean }[];
}

/** What each action is called, and what it does. */
const words: Record<Action, { button: string; title: (name: string) => string; says: string; done: string }> = {
  reconcile: {
    button: "Reconcile",
    title: (name) => `Start a job of ${name}?`,
    says: "The whole tree is deployed with its imports as they are now. If a job runs, the new one starts when it has ended.",
    done: "A job was asked for.",
  },
  "force-reconcile": {
    button: "Force reconcile",
    title: (name) => `Start a job of ${name} although one runs?`,
    says: "The running job is given up, and a new one begins at once.",
    done: "A job was asked for.",
  },
  interrupt: {
    button: "Interrupt",
    title: (name) => `End the running job of ${name} as failed?`,
    says: "Everything in its tree that is not finished becomes Failed. What a deployer does at this moment is not stopped.",
    done: "The interruption was asked for.",
  },
  abort: {
    button: "Abort",
    title: (name) => `Abort the running job of ${name}?`,
    says: "Nothing new is started, and the job ends as failed when what runs has ended.",
    done: "The abort was asked for.",
  },
  "set-imports": {
    button: "Set imports",
    title: (name) => `Give imports of ${name} fixed values`,
    says: "An import that gets a value is no longer read from an object. Those that stay empty are left as they are. No job is started by this, unless a change of the spec starts one.",
    done: "The imports were set.",
  },
  skip: {
    button: "Switch automatic jobs off",
    title: (name) => `Switch the automatic jobs of ${name} off?`,
    says: "Only jobs that an operation asks for are started then. Deletion still works.",
    done: "Automatic jobs are off.",
  },
  unskip: {
    button: "Switch automatic jobs on",
    title: (name) => `Switch the automatic jobs of ${name} on again?`,
    says: "A change that was skipped may start a job now.",
    done: "Automatic jobs are on again.",
  },
  delete: {
    button: "Delete",
    title: (name) => `Delete ${name}?`,
    says: "What goes, in this order: what has the same number goes at the same time.",
    done: "The deletion was asked for.",
  },
};

/** The buttons for what the user may do with an Installation. */
export function ActionBar({ view }: { view: Page }) {
  const [offer, setOffer] = useState<Offer>();
  const [chosen, setChosen] = useState<Action>();
  const [said, setSaid] = useState("");
  const address = `/actions${pageAddress(view.namespace, view.name).slice(2)}`;
  // What fits depends on how the Installation stands.
  useEffect(() => {
    let left = false;
    ask<Offer>(address).then((answer) => left || setOffer(answer.content));
    return () => {
      left = true;
    };
  }, [address, view.state, view.standing, view.since, said]);
  if (!offer || (!offer.actions.length && !offer.plans)) return null;
  const button = (action: Action) => (
    <button type="button" key={action} class={action === "reconcile" ? "first" : action === "delete" ? "danger" : ""} onClick={() => setChosen(action)}>
      {words[action].button}
    </button>
  );
  return (
    <div class="actions">
      <div class="buttons" role="group" aria-label="Actions">
        {offer.actions.filter((action) => action !== "delete").map(button)}
        {offer.plans && <a href={pageAddress(view.namespace, view.name).replace("/n/", "/plan/")}>What would a job change?</a>}
        {offer.actions.includes("delete") && button("delete")}
      </div>
      <p class="said" role="status">
        {said}
      </p>
      {chosen && <Confirm action={chosen} view={view} offer={offer} close={() => setChosen(undefined)} done={setSaid} />}
    </div>
  );
}

/** A dialog that stays until it is closed. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={close}>
      <h2 id="question">{title}</h2>
      {children}
    </dialog>
  );
}

function Confirm({ action, view, offer, close, done }: { action: Action; view: Page; offer: Offer; close: () => void; done: (said: string) => void }) {
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const [keep, setKeep] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const word = words[action];
  const starts = action === "reconcile" || action === "force-reconcile";
  const send = async () => {
    const request: ActionRequest = { uid: offer.uid };
    if (action === "delete") request.keep = keep;
    if (action === "set-imports") request.imports = written(new FormData(form.current!));
    setBusy(true);
    const answer = await ask<Done>(`/act/${action}${pageAddress(view.namespace, view.name).slice(2)}`, request);
    setBusy(false);
    if (!answer.content) {
      setWrong(answer.wrong);
      return;
    }
    done([word.done, ...(answer.content.remarks ?? [])].join(" "));
    close();
  };
  return (
    <Dialog title={word.title(view.title)} close={close}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p>{word.says}</p>
        {offer.part && action === "delete" && <p class="note">It is a part of {offer.part}, whose next job brings it back.</p>}
        {starts && offer.plans && <Foreseen view={view} />}
        {action === "set-imports" && <Imports names={offer.imports ?? []} />}
        {action === "delete" && (
          <>
            <Going view={view} keep={keep} />
            <label class="choice">
              <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} /> Leave on the clusters what was deployed
            </label>
          </>
        )}
        <div role="alert">
          <Message text={wrong} />
        </div>
        <div class="answers">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class={action === "delete" ? "danger" : "first"} disabled={busy}>
            {busy ? "Asking …" : word.button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Foreseen({ view }: { view: Page }) {
  const [plan] = usePlan(view.namespace, view.name);
  return (
    <div class="preview" tabIndex={0} role="region" aria-label="What the job would change">
      <PlanView answer={plan} />
    </div>
  );
}

function Imports({ names }: { names: string[] }) {
  return (
    <div class="preview">
      {names.map((name) => (
        <div class="import" key={name}>
          <label for={`import-${name}`}>{name}</label>
          <textarea id={`import-${name}`} name={`text/${name}`} rows={1} spellcheck={false} />
          <select name={`kind/${name}`} aria-label={`Kind of ${name}`}>
            <option value="">number or text</option>
            <option value="yaml">YAML</option>
          </select>
        </div>
      ))}
    </div>
  );
}

/** The imports that have got a value. */
export function written(fields: FormData): NonNullable<ActionRequest["imports"]> {
  return [...fields]
    .filter(([field, text]) => field.startsWith("text/") && text !== "")
    .map(([field, text]) => {
      const name = field.slice("text/".length);
      return { name, text: String(text), anything: fields.get(`kind/${name}`) === "yaml" };
    });
}

interface Reference {
  kind: string;
  namespace?: string;
  name: string;
}

interface Deletion {
  notes?: string[];
  uninstalls?: {
    step: number;
    path: string;
    target?: string;
    kept?: boolean;
    objects?: Reference[];
    moves?: { object: Reference; to: string }[];
    stays?: { object: Reference; reason: string }[];
    earlierClusters?: { cluster: string; release?: string; objects?: Reference[] }[];
    unknown?: string[];
  }[];
}

export function named(object: Reference): string {
  return `${object.kind} ${object.namespace ? `${object.namespace}/` : ""}${object.name}`;
}

/** What a deletion takes away. */
function Going({ view, keep }: { view: Page; keep: boolean }) {
  const [answer, setAnswer] = useState<Answer<Deletion>>();
  useEffect(() => {
    ask<Deletion>(`/plan/deletion${pageAddress(view.namespace, view.name).slice(2)}`).then(setAnswer);
  }, []);
  return (
    <div class="preview" tabIndex={0} role="region" aria-label="What goes">
      {!answer && <p class="hint" role="status">The clusters are asked what is there …</p>}
      <Message text={answer?.wrong} />
      {answer?.content?.notes?.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
      {answer?.content && !answer.content.uninstalls?.length && <p>Nothing is deployed.</p>}
      <ul class="going">
        {answer?.content?.uninstalls?.map((item) => (
          <li key={item.path}>
            <div>
              <b>{item.step}.</b> {item.path}
              {item.target && <span class="quiet"> on Target {item.target}</span>}
              {(keep || item.kept) && <span class="quiet"> (what it has deployed stays)</span>}
            </div>
            {!keep && !item.kept && (
              <ul>
                {item.objects?.map((object) => <Goes key={named(object)} sign="−" kind="delete" text={named(object)} />)}
                {item.moves?.map((move) => <Goes key={named(move.object)} sign="→" kind="move" text={`${named(move.object)} moves to deploy item ${move.to}`} />)}
                {item.stays?.map((stay) => <Goes key={named(stay.object)} sign="=" kind="keep" text={`${named(stay.object)} stays, ${stay.reason}`} />)}
                {item.unknown?.map((text) => <Goes key={text} sign="?" kind="unknown" text={text} />)}
                {item.earlierClusters?.flatMap((earlier) =>
                  [...(earlier.release ? [`release ${earlier.release}`] : []), ...(earlier.objects ?? []).map(named)].map((text) => (
                    <Goes key={earlier.cluster + text} sign="−" kind="delete" text={`${text} on the earlier cluster ${earlier.cluster}`} />
                  )),
                )}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Goes({ sign, kind, text }: { sign: string; kind: string; text: string }) {
  return (
    <li>
      <span class={`sign ${kind}`}>{sign}</span> {text}
    </li>
  );
}

interface Root extends Thing {
  uid: string;
}

/** The button that runs again what has failed, for those who may. */
export function RunAgain({ failed }: { failed: number }) {
  const [roots, setRoots] = useState<Root[]>([]);
  const [open, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!failed) {
      setRoots([]);
      return;
    }
    let left = false;
    ask<Root[]>("/actions").then((answer) => left || setRoots(answer.content ?? []));
    return () => {
      left = true;
    };
  }, [failed, open]);
  return (
    <div class="actions">
      {roots.length > 0 && (
        <button type="button" onClick={() => setOpen(true)}>
          Run again what has failed
        </button>
      )}
      <p class="said" role="status">
        {said}
      </p>
      {open && <Again roots={roots} close={() => setOpen(false)} done={setSaid} />}
    </div>
  );
}

function Again({ roots: all, close, done }: { roots: Root[]; close: () => void; done: (said: string) => void }) {
  // What is being confirmed stays as it was read.
  const [roots] = useState(all);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const send = async () => {
    setBusy(true);
    let asked = 0;
    const failures: string[] = [];
    for (const root of roots) {
      const answer = await ask<Done>(`/act/reconcile${pageAddress(root.namespace, root.name).slice(2)}`, { uid: root.uid });
      if (answer.content) asked++;
      else failures.push(`${root.namespace}/${root.name}: ${answer.wrong}`);
    }
    setBusy(false);
    done(`${asked} ${asked === 1 ? "job was" : "jobs were"} asked for.`);
    if (failures.length) setWrong(failures.join("\n"));
    else close();
  };
  return (
    <Dialog title={`Start ${roots.length === 1 ? "a job" : `${roots.length} jobs`}?`} close={close}>
      <p>The last job of each of these has failed:</p>
      <ul class="preview going" tabIndex={0}>
        {roots.map((root) => (
          <li key={`${root.namespace}/${root.name}`}>
            <Mark state={root.state} /> <span class="quiet">{root.namespace} / </span>
            <To thing={root}>{root.name}</To>
          </li>
        ))}
      </ul>
      <div role="alert">
        <Message text={wrong} />
      </div>
      <div class="answers">
        <button type="button" onClick={close}>
          {wrong ? "Close" : "Cancel"}
        </button>
        {!wrong && (
          <button type="button" class="first" disabled={busy} onClick={() => void send()}>
            {busy ? "Asking …" : "Run again"}
          </button>
        )}
      </div>
    </Dialog>
  );
}
