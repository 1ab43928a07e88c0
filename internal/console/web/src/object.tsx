import { Above, Badge, Cell, Events, Message, Section, Since, Table } from "./parts";
import { NotThere } from "./why";
import { addressOf, targetAddress, whyAddress, type Condition, type ObjectPage } from "./model";

export function ObjectView({ view }: { view: ObjectPage }) {
  if (view.missing) return <NotThere kind={view.kind} namespace={view.namespace} name={view.name} />;
  return (
    <>
      {view.page ? (
        <Above frame={view} namespace={view.namespace} above={view.above} />
      ) : (
        <nav class="above" aria-label="Part of">
          <a href="/targets">Targets</a>
          <span>{view.namespace}</span>
        </nav>
      )}
      <h1 tabIndex={-1}>
        {view.title} {view.state && <Badge state={view.state} />}
      </h1>
      <p class="quiet facts">
        {view.kind} {view.name}
        {view.standing && ` · ${view.standing} `}
        <Since time={view.since} />
        {view.page && (
          <>
            {" · "}
            <a href={addressOf(view)}>{view.kind === "Installation" ? "its page" : `on the page of ${view.page}`}</a>
          </>
        )}
        {view.page && view.state !== "Ready" && (
          <>
            {" · "}
            <a href={whyAddress(view)}>why it is not ready</a>
          </>
        )}
        {view.kind === "Target" && (
          <>
            {" · "}
            <a href={targetAddress(view.namespace, view.title)}>who uses it</a>
          </>
        )}
      </p>
      {view.state !== "Ready" && <Message text={view.why} />}
      {view.errors?.length && (
        <Section id="errors" title="Errors of the last synchronisation" count={view.errors.length}>
          {view.errors.map((text) => (
            <Message key={text} text={text} />
          ))}
        </Section>
      )}
      <Conditions conditions={view.conditions} />
      <Events events={view.events} />
      <Section id="yaml" title="YAML">
        <p class="quiet small">
          {view.partial
            ? "The metadata only: what the object holds is never read."
            : "Values that templates or users may have made from secrets are hidden. The same fingerprint in this namespace means the same value, until the console ends."}
          {view.cut && " The object is too long: this is its beginning."}
        </p>
        {view.yaml && (
          <pre class="yaml" tabIndex={0} aria-label="YAML of the object">
            {view.yaml}
          </pre>
        )}
      </Section>
    </>
  );
}

function Conditions({ conditions }: { conditions?: Condition[] }) {
  if (!conditions?.length) return null;
  return (
    <Section id="conditions" title="Conditions" count={conditions.length}>
      <Table heads={["Type", "Status", "Since", "Reason", "Message"]}>
        {conditions.map((condition) => (
          <tr key={condition.type}>
            <Cell head="Type">{condition.type}</Cell>
            <Cell head="Status">{condition.status}</Cell>
            <Cell head="Since">
              <Since time={condition.lastTransitionTime} />
            </Cell>
            <Cell head="Reason">{condition.reason}</Cell>
            <Cell head="Message" wide>
              <Message text={condition.message} />
            </Cell>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
