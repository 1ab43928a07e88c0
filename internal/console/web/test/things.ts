import type { Thing } from "../src/model";

/** A thing as the server sends it, an Installation unless it is said. */
export function thing(with_: Partial<Thing> = {}): Thing {
  return { kind: "Installation", namespace: "shop", name: "web", title: "web", state: "Ready", page: "web", ...with_ };
}
