import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { logOut, useLive, useUser } from "./live";
import { OverviewPage } from "./overview";
import { InstallationPage } from "./page";
import type { Frame, Overview, Page } from "./model";

/** The address of the page, which follows links without loading a document. */
function useAddress(): [URL, (to: string, replace?: boolean) => void] {
  const [address, setAddress] = useState(() => new URL(location.href));
  const go = (to: string, replace = false) => {
    if (replace) history.replaceState(null, "", to);
    else history.pushState(null, "", to);
    setAddress(new URL(location.href));
  };
  useEffect(() => {
    const back = () => setAddress(new URL(location.href));
    const follow = (event: MouseEvent) => {
      const link = (event.target as Element).closest("a");
      const href = link?.getAttribute("href");
      const other = event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
      if (!href?.startsWith("/") || other) return;
      event.preventDefault();
      go(href);
    };
    window.addEventListener("popstate", back);
    document.addEventListener("click", follow);
    return () => {
      window.removeEventListener("popstate", back);
      document.removeEventListener("click", follow);
    };
  }, []);
  return [address, go];
}

function App() {
  const [address, go] = useAddress();
  const text = address.searchParams.get("q") ?? "";
  const overview = !address.pathname.startsWith("/n/");
  const live = useLive<Overview | Page>("/live" + (overview ? `/overview?q=${encodeURIComponent(text)}` : address.pathname));
  const view = live.view;
  useArrival(address, view !== undefined);
  useTitle(overview, view);
  return (
    <>
      <Header text={text} go={go} lost={live.lost} view={view} />
      <main>
        {view?.notes?.map((note) => (
          <p key={note} class="note" role="alert">
            {note}
          </p>
        ))}
        {!view && <p class="hint">{live.lost ? "" : "Loading …"}</p>}
        {view && overview && <OverviewPage view={view as Overview} text={text} />}
        {view && !overview && <InstallationPage view={view as Page} />}
      </main>
    </>
  );
}

function Header({ text, go, lost, view }: { text: string; go: (to: string, replace?: boolean) => void; lost: boolean; view?: Frame }) {
  const search = useRef<HTMLInputElement>(null);
  const user = useUser();
  useEffect(() => {
    const slash = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      search.current?.focus();
    };
    document.addEventListener("keydown", slash);
    return () => document.removeEventListener("keydown", slash);
  }, []);
  return (
    <header>
      <a class="brand" href="/">
        Landscaper
      </a>
      <input
        ref={search}
        type="search"
        aria-label="Search"
        placeholder="Search names, components, Targets, values"
        title="Press / to come here"
        value={text}
        onInput={(event) => {
          const found = event.currentTarget.value;
          go(found ? `/?q=${encodeURIComponent(found)}` : "/", location.pathname === "/");
        }}
      />
      <span class={`connection ${lost ? "lost" : ""}`} role="status" title={view?.where}>
        {lost ? "Connection lost, trying again …" : view ? "Live" : ""}
      </span>
      {user && (
        <span class="user">
          <span title={user}>{user}</span>
          <button type="button" onClick={logOut}>
            Log out
          </button>
        </span>
      )}
    </header>
  );
}

/** Moves the focus to where an address leads, once it is on the screen. */
function useArrival(address: URL, there: boolean) {
  useEffect(() => {
    if (!there) return;
    const part = address.hash && document.getElementById(decodeURIComponent(address.hash.slice(1)));
    const searching = document.activeElement instanceof HTMLInputElement;
    if (part) {
      part.scrollIntoView({ block: "center" });
      part.focus();
    } else if (!searching) {
      window.scrollTo(0, 0);
      document.querySelector("h1")?.focus();
    }
  }, [address.pathname, address.hash, there]);
}

function useTitle(overview: boolean, view?: Overview | Page) {
  const name = !overview && view ? `${(view as Page).name}: ${(view as Page).state ?? "missing"}` : "Landscaper";
  useEffect(() => {
    document.title = name;
  }, [name]);
}

render(<App />, document.getElementById("app")!);
