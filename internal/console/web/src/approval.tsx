import { useEffect, useState } from "preact/hooks";
import { ask, type Answer } from "./ask";
import { Dialog, type Done } from "./actions";
import { Message, Section, Since } from "./parts";
import { PlanView, type Happens, type Plan } from "./plan";
import { pageAddress, type Page } from "./model";

export interface StoredPlan {
  uid: string;
  plan?: Plan;
  since: string;
  deletion?: boolean;
  unknown?: number;
  approvedBy?: string[];
  needs?: number;
  void?: string[];
  refusal?: string;
  earlier?: { digest: string; approvedBy?: string[]; lines?: { action: Happens; text: string }[] };
}

/** Who has approved a plan, how many have to, and whose approvals do not count. */
export function approvalsOf({ approvedBy = [], needs, void: uncounted = [] }: Pick<StoredPlan, "approvedBy" | "needs" | "void">): string {
  const by = approvedBy.length ? `Approved by ${approvedBy.join(" and ")}` : "Approved by no user yet";
  const many = needs ? `: ${approvedBy.length} of ${needs} ${needs === 1 ? "approval" : "approvals"}` : "";
  const not = uncounted.length ? `; too old, or without the parts that only the job can know: ${uncounted.join(" and ")}` : "";
  return by + many + not;
}

/** The stored plan of a job that waits for it, and the button that approves it. */
export function Approval({ view }: { view: Page }) {
  const [answer, setAnswer] = useState<Answer<StoredPlan>>();
  const [open, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  const address = pageAddress(view.namespace, view.name).slice(2);
  // What waits says which plan it is, and who has approved it.
  useEffect(() => {
    let left = false;
    ask<StoredPlan>(`/approval${address}`).then((answer) => left || setAnswer(answer));
    return () => {
      left = true;
    };
  }, [address, view.planWait, said]);
  const stored = answer?.content;
  // Most jobs that wait for a time have no plan.
  if (view.planAhead && !stored?.plan) return null;
  return (
    <Section id="approval" title={stored?.deletion ? "Plan of the deletion, which waits" : "Plan of the next job, which waits"}>
      {!answer && <p class="hint" role="status">Reading the plan …</p>}
      <Message text={answer?.wrong} />
      {stored && !stored.plan && <p class="hint" role="status">No plan is stored yet.</p>}
      {stored?.plan && (
        <>
          <PlanView answer={{ content: stored.plan }} />
          {stored.earlier && <Compared earlier={stored.earlier} />}
          <div class="approve">
            <p>
              {approvalsOf(stored)}. <span class="quiet">Stored</span> <Since time={stored.since} />
            </p>
            {stored.refusal ? (
              <p class="note">{stored.refusal}</p>
            ) : (
              <button type="button" class="first" onClick={() => setOpen(true)}>
                Approve this plan
              </button>
            )}
          </div>
        </>
      )}
      <p class="said" role="status">
        {said}
      </p>
      {open && stored?.plan && <Approve view={view} address={address} stored={stored} plan={stored.plan} close={() => setOpen(false)} done={setSaid} />}
    </Section>
  );
}

/** What differs from the plan before. */
function Compared({ earlier }: { earlier: NonNullable<StoredPlan["earlier"]> }) {
  return (
    <details class="compared">
      <summary>
        Compared with the plan before{earlier.approvedBy?.length ? `, which ${earlier.approvedBy.join(" and ")} approved` : ""}:{" "}
        {earlier.lines?.length ? `${earlier.lines.length} ${earlier.lines.length === 1 ? "line differs" : "lines differ"}` : "it shows the same, and follows from something else"}
      </summary>
      <p class="quiet small digest">
        <span>Digest of the plan before:</span> <code>{earlier.digest}</code>
      </p>
      <div class="fields">
        {earlier.lines?.map((line, at) =>
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
      </div>
    </details>
  );
}

function Approve({ view, address, stored: shown, plan: shownPlan, close, done }: { view: Page; address: string; stored: StoredPlan; plan: Plan; close: () => void; done: (said: string) => void }) {
  // What is being approved stays as it was read.
  const [{ stored, plan }] = useState({ stored: shown, plan: shownPlan });
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const [acceptUnknown, setAcceptUnknown] = useState(false);
  const [comment, setComment] = useState("");
  const send = async () => {
    setBusy(true);
    const answer = await ask<Done>(`/act/approve${address}`, { uid: stored.uid, digest: plan.digest, acceptUnknown, comment });
    setBusy(false);
    if (!answer.content) {
      setWrong(answer.wrong);
      return;
    }
    done("Your approval is stored.");
    close();
  };
  return (
    <Dialog title={`Approve the plan of ${view.title}?`} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p>{plan.summary}. {view.planAhead ? "At its time, the job begins if" : "The job begins when"} enough users have approved exactly this plan, and only if it is still what would happen then.</p>
        <p class="quiet small digest">
          <span>Digest of the plan:</span> <code>{plan.digest}</code>
        </p>
        {stored.unknown && (
          <label class="choice">
            <input type="checkbox" checked={acceptUnknown} onChange={(event) => setAcceptUnknown(event.currentTarget.checked)} /> Approve {stored.unknown === 1 ? "the part" : `the ${stored.unknown} parts`}, too, that only the job can know
          </label>
        )}
        <div class="import">
          <label for="comment">Comment</label>
          <textarea id="comment" rows={1} maxLength={1024} value={comment} onInput={(event) => setComment(event.currentTarget.value)} />
        </div>
        <div role="alert">
          <Message text={wrong} />
        </div>
        <div class="answers">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="first" disabled={busy || (!!stored.unknown && !acceptUnknown)}>
            {busy ? "Asking …" : "Approve"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
