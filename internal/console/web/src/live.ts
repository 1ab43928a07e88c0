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

/** Follows a view. A lost connection is taken up again, and the whole view comes anew. */
export function useLive<T>(address: string): Live<T> {
  const [live, setLive] = useState<Live<T> & { address: string }>({ address, lost: false });
  useEffect(() => {
    let source: EventSource | undefined;
    let again = 0;
    const open = () => {
      const opened = new EventSource(address);
      source = opened;
      source.onmessage = (event) => setLive({ address, view: read<T>(event.data), lost: false });
      source.onerror = () => {
        setLive((before) => ({ ...before, address, lost: true }));
        // A browser gives up when the answer was an error, and waits long on its own.
        opened.close();
        enterAgain();
        again = window.setTimeout(open, 1000);
      };
    };
    const close = () => {
      source?.close();
      window.clearTimeout(again);
    };
    // A browser has few connections to a host for all its tabs: those that nobody sees have none.
    const seen = () => {
      close();
      if (!document.hidden) open();
    };
    seen();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      close();
    };
  }, [address]);
  // While a search is typed, the last result stays.
  return pathOf(live.address) === pathOf(address) ? live : { lost: live.lost };
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
