import { render, type ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { keepKey } from "./ask";
import { logOut, useLive, useUser } from "./live";
import { OverviewPage } from "./overview";
import { InstallationPage } from "./page";
import { Address } from "./filter";
import { JobsPage } from "./jobs";
import { ObjectView } from "./object";
import { ComparePage } from "./compare";
import { PlanPage } from "./plan";
import { TargetPage, TargetsPage } from "./targets";
import { WhyPage } from "./why";
import type { Comparison, Frame, Jobs, ObjectPage, Overview, Page, Target, Targets, Why } from "./model";

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

/** The pages by the beginning of their addresses. Those that take a text get it from the address. */
const pages: { begins: string; title: (view: any) => string; draw: (view: any, text: string) => ComponentChild }[] = [
  { begins: "/n/", title: (view: Page) => `${view.name}: ${view.state ?? "missing"}`, draw: (view: Page) => <InstallationPage view={view} /> },
  { begins: "/plan/", title: (view: Page) => `Plan of ${view.name}`, draw: (view: Page) => <PlanPage view={view} /> },
  { begins: "/compare/", title: (view: Comparison) => `Two jobs of ${view.name}`, draw: (view: Comparison) => <ComparePage view={view} /> },
  { begins: "/why/", title: (view: Why) => `Why ${view.name}`, draw: (view: Why) => <WhyPage view={view} /> },
  { begins: "/objects/", title: (view: ObjectPage) => `${view.kind} ${view.name}`, draw: (view: ObjectPage) => <ObjectView view={view} /> },
  { begins: "/targets/", title: (view: Target) => `Target ${view.name}`, draw: (view: Target) => <TargetPage view={view} /> },
  { begins: "/targets", title: () => "Targets", draw: (view: Targets, text) => <TargetsPage view={view} text={text} /> },
  { begins: "/jobs", title: () => "Jobs", draw: (view: Jobs, text) => <JobsPage view={view} text={text} /> },
  { begins: "/", title: () => "Landscaper", draw: (view: Overview, text) => <OverviewPage view={view} text={text} /> },
];

function App() {
  const [address, go] = useAddress();
  const text = address.searchParams.get("q") ?? "";
  const page = pages.find(({ begins }) => address.pathname.startsWith(begins))!;
  const overview = page.begins === "/";
  const query = page.begins === "/compare/" ? address.search : text || overview ? `?q=${encodeURIComponent(text)}` : "";
  const live = useLive<Frame>(`/live${overview ? "/overview" : address.pathname.replace(/^\/plan\//, "/n/")}${query}`);
  const view = live.view;
  useArrival(address, view !== undefined);
  useTitle(view ? page.title(view) : "Landscaper");
  return (
    <Address.Provider value={{ url: address, go }}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header text={overview ? text : ""} go={go} lost={live.lost} view={view} />
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
