import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { searchAddress } from "./model";

/** The address of the page, and the way to another one. The app gives both. */
export const Address = createContext<{ url: URL; go: (to: string, replace?: boolean) => void }>({ url: new URL("http://localhost/"), go: () => {} });

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
      onInput={(event) => go(searchAddress(path, event.currentTarget.value), true)}
    />
  );
}
