import { useEffect, useState } from "preact/hooks";

/** What is known of a view: its content, and whether the connection is up. */
export interface Live<T> {
  view?: T;
  /** The connection is lost, or could not be made. */
  lost: boolean;
}

// Characters that do something instead of being shown: control characters, and those that turn the
// direction of writing around.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Reads what the server sends. Texts of others become harmless here, once for all pages. */
export function read<T>(text: string): T {
  return JSON.parse(text, (_, value) => (typeof value === "string" ? value.replace(controls, "\ufffd") : value));
}

/** A stream of events, as far as it is used here. */
export interface Stream {
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: Event) => void) | null;
  close(): void;
}

/** What following a view needs of the browser. */
export interface Browser {
  open(address: string): Stream;
  after(milliseconds: number, run: () => void): number;
  cancel(timer: number): void;
  hidden(): boolean;
  /** Calls when the page was hidden or shown, until the returned function is called. */
  whenSeen(run: () => void): () => void;
  /** Finds out whether the session has ended. */
  checkSession(): void;
}

const browser: Browser = {
  open: (address) => new EventSource(address),
  after: (milliseconds, run) => window.setTimeout(run, milliseconds),
  cancel: (timer) => window.clearTimeout(timer),
  hidden: () => document.hidden,
  whenSeen: (run) => {
    document.addEventListener("visibilitychange", run);
    return () => document.removeEventListener("visibilitychange", run);
  },
  checkSession: enterAgain,
};

/** Listens to an address until the returned function is called, and takes a lost connection up again. */
export function follow(address: string, { got, lost }: { got: (text: string) => void; lost: () => void }, on: Browser = browser): () => void {
  let stream: Stream | undefined;
  let again = 0;
  const open = () => {
    const opened = on.open(address);
    stream = opened;
    opened.onmessage = (event) => got(event.data);
    opened.onerror = () => {
      lost();
      // A browser gives up when the answer was an error, and waits long on its own.
      opened.close();
      on.checkSession();
      again = on.after(1000, open);
    };
  };
  const close = () => {
    stream?.close();
    on.cancel(again);
  };
  // A browser has few connections to a host for all its tabs: those that nobody sees have none.
  const seen = () => {
    close();
    if (!on.hidden()) open();
  };
  seen();
  const leave = on.whenSeen(seen);
  return () => {
    leave();
    close();
  };
}

/** What is known of the view of an address. */
export type Known<T> = Live<T> & { address: string };

/** What is known when the connection of an address is lost: the view that was shown, but not that of another page. */
export function afterLoss<T>(before: Known<T>, address: string): Known<T> {
  return { ...shownAt(before, address), address, lost: true };
}

/** What of it is shown at an address. While a search is typed, the last result stays. */
export function shownAt<T>(known: Known<T>, address: string): Live<T> {
  return pathOf(known.address) === pathOf(address) ? known : { lost: known.lost };
}

/** Follows a view. A lost connection is taken up again, and the whole view comes anew. */
export function useLive<T>(address: string): Live<T> {
  const [known, setKnown] = useState<Known<T>>({ address, lost: false });
  useEffect(
    () =>
      follow(address, {
        got: (text) => setKnown({ address, view: read<T>(text), lost: false }),
        lost: () => setKnown((before) => afterLoss(before, address)),
      }),
    [address],
  );
  return shownAt(known, address);
}

/** Leads to the login if the session has ended: a stream does not say why it ends. */
function enterAgain() {
  fetch("/session").then(
    (answer) => answer.status === 401 && location.reload(),
    () => {}, // the connection is lost, which the page says
  );
}

/** The user who is logged in; empty where there is only one. */
export interface User {
  user: string;
  logsOut: boolean;
}

export function useUser(): User {
  const [user, setUser] = useState<User>({ user: "", logsOut: false });
  useEffect(() => {
    fetch("/session").then(
      async (answer) => answer.ok && setUser(read<User>(await answer.text())),
      () => {},
    );
  }, []);
  return user;
}

/** Ends the session, and leads to the login. */
export async function logOut() {
  const answer = await fetch("/logout", { method: "POST" });
  if (answer.ok) location.assign("/login");
}

function pathOf(address: string): string {
  return address.split("?")[0];
}

/** The present time, anew after each period. */
export function useClock(period = 10_000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const clock = window.setInterval(() => setNow(Date.now()), period);
    return () => window.clearInterval(clock);
  }, [period]);
  return now;
}
