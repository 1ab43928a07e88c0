import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { keepKey } from "./ask";
import { logOut, useLive, useUser } from "./live";
import { Address } from "./filter";
import { searchAddress, type Frame } from "./model";
import { liveAddress, pageOf, searched, stays } from "./pages";

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
      if (!stays(href, event)) return;
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
  const text = searched(address);
  const page = pageOf(address);
  const live = useLive<Frame>(liveAddress(address));
  const view = live.view;
  useArrival(address, view !== undefined);
  useTitle(view ? page.title(view) : "Landscaper");
  return (
    <Address.Provider value={{ url: address, go }}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header text={page.begins === "/" ? text : ""} go={go} lost={live.lost} view={view} />
      <main id="content" tabIndex={-1}>
        {view?.notes?.map((note) => (
          <p key={note} class="note" role="alert">
            {note}
          </p>
        ))}
        {!view && <h1 class="hint" tabIndex={-1}>{live.lost ? "No connection" : "Loading …"}</h1>}
        {view && page.draw(view, text)}
      </main>
    </Address.Provider>
  );
}

function Header({ text, go, lost, view }: { text: string; go: (to: string, replace?: boolean) => void; lost: boolean; view?: Frame }) {
  const search = useRef<HTMLInputElement>(null);
  const { user, logsOut } = useUser();
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
      <nav class="places" aria-label="Pages">
        <a href="/targets" aria-current={location.pathname.startsWith("/targets") ? "page" : undefined}>
          Targets
        </a>
        <a href="/jobs" aria-current={location.pathname === "/jobs" ? "page" : undefined}>
          Jobs
        </a>
      </nav>
      <input
        ref={search}
        type="search"
        aria-label="Search"
        placeholder="Search names, components, Targets, values"
        title="Press / to come here"
        value={text}
        onInput={(event) => go(searchAddress("/", event.currentTarget.value), location.pathname === "/")}
      />
      <span class={`connection ${lost ? "lost" : ""}`} role="status" title={view?.where}>
        {lost ? "Connection lost, trying again …" : view ? "Live" : ""}
      </span>
      {user && (
        <span class="user">
          <span title={user}>{user}</span>
          {logsOut && (
            <button type="button" onClick={logOut}>
              Log out
            </button>
          )}
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

function useTitle(name: string) {
  useEffect(() => {
    document.title = name;
  }, [name]);
}

keepKey();
render(<App />, document.getElementById("app")!);
