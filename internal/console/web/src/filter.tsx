import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** The address of the page, and the way to another one. */
export const Address = createContext<{ url: URL; go: (to: string, replace?: boolean) => void }>({ url: new URL(location.href), go: () => {} });

/** A field that keeps its text in the address, so that a filtered list can be sent. */
export function Filter({ text, path, label }: { text: string; path: string; label: string }) {
  const { go } = useContext(Address);
  return (
    <input
      class="filter"
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={(event) => {
        const found = event.currentTarget.value;
        go(found ? `${path}?q=${encodeURIComponent(found)}` : path, true);
      }}
    />
  );
}
